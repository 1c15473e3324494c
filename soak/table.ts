// The table on the console.
import type { SceneResult } from './results.ts'
import type { Verdict } from './verdict.ts'
import { isClean } from './verdict.ts'

export const passed = (result: SceneResult): boolean =>
  result.skipped !== undefined ||
  (result.error === undefined && result.verdict !== undefined && isClean(result.verdict) && noneMissing(result))

/** Every call must be acknowledged in the end. */
const noneMissing = ({ remarks = [] }: SceneResult): boolean =>
  !remarks.some((remark) => remark.includes('never acknowledged'))

const rows: readonly (readonly [name: string, value: (verdict: Verdict) => string])[] = [
  ['events acknowledged', (v) => String(v.events)],
  ['notifications lost / doubled', (v) => `${v.notificationsLost} / ${v.notificationsDoubled} of ${v.notifications}`],
  ['in-app lost / doubled', (v) => `${v.inAppLost} / ${v.inAppDoubled} of ${v.inApp}`],
  ['e-mails never sent', (v) => `${v.mailsNeverSent} of ${v.mails}`],
  ['e-mails twice, marked / unmarked', (v) => `${v.mailsTwiceMarked} / ${v.mailsTwiceUnmarked}`],
  ['SMS lost / skipped (marked)', (v) => `${v.smsLost} / ${v.smsSkippedMarked} of ${v.sms}`],
  ['SMS twice, marked / unmarked', (v) => `${v.smsTwiceMarked} / ${v.smsTwiceUnmarked}`],
  ['digest events lost / doubled', (v) => `${v.digestEventsLost} / ${v.digestEventsDoubled} of ${v.digestEvents}`],
  ['wrong address / words', (v) => `${v.wrongAddress} / ${v.wrongWords} of ${v.contentChecked}`],
  ['not owed at all', (v) => String(v.notOwed)],
  ['cancelled, yet delivered', (v) => String(v.cancelledYetDelivered)],
  ['delays that ended early', (v) => String(v.delaysEarly)],
  ['jobs failed / buried', (v) => `${v.jobsFailed} / ${v.buried}`],
  ['unfinished', (v) => String(v.unfinished)],
]

export function tellResult(result: SceneResult): string {
  const { scene, skipped, error, verdict } = result
  if (skipped !== undefined) return `  ${scene}: skipped: ${skipped}\n`
  const lines = [`  ${scene} ${passed(result) ? 'passed' : 'FAILED'}: ${result.kills} faults in ${result.seconds} s`]
  if (error !== undefined) lines.push(`    ${error}`)
  if (verdict !== undefined) {
    for (const [name, value] of rows) lines.push(`    ${name.padEnd(34)} ${value(verdict)}`)
    for (const [name, value] of timesOf(result)) lines.push(`    ${name.padEnd(34)} ${value}`)
    for (const [kind, examples] of Object.entries(verdict.examples)) {
      lines.push(`    ${kind}: ${examples.slice(0, 3).join('; ')}`)
    }
  }
  for (const remark of result.remarks ?? []) lines.push(`    - ${remark}`)
  return `${lines.join('\n')}\n`
}

function timesOf(result: SceneResult): [string, string][] {
  const { recovery, settledMs, startMs = [], load, mixture = {} } = result
  const named: [string, string][] = [
    [
      'planned',
      Object.entries(mixture)
        .map(([what, count]) => `${count} ${what}`)
        .join(', '),
    ],
    ['start to /ready', spread(startMs)],
  ]
  if (recovery !== undefined) {
    const { firstMs, lastMs, neverResumed, neverFinished } = recovery
    named.push(['/ready to the first owed', `${spread(firstMs)}${also(neverResumed, 'never resumed')}`])
    named.push(['/ready to the last owed (calm)', `${spread(lastMs)}${also(neverFinished, 'not within 25 s')}`])
  }
  named.push(['all finished after', settledMs === undefined ? 'never' : `${(settledMs / 1000).toFixed(1)} s`])
  const { failedStarts = 0, endedAlone = 0 } = result
  if (failedStarts + endedAlone > 0) named.push(['starts that failed / ended alone', `${failedStarts} / ${endedAlone}`])
  if (load !== undefined)
    named.push(['answers lost / refused', `${load.lostAnswers} / ${JSON.stringify(load.refusals)}`])
  return named
}

const also = (count: number, words: string): string => (count === 0 ? '' : `, ${count} ${words}`)

/** Median and maximum. */
export function spread(values: readonly number[]): string {
  if (values.length === 0) return 'not measured'
  const sorted = [...values].sort((a, b) => a - b)
  const seconds = (value: number | undefined): string => ((value ?? 0) / 1000).toFixed(1)
  return `median ${seconds(sorted[Math.floor(sorted.length / 2)])} s, longest ${seconds(sorted.at(-1))} s (${sorted.length})`
}

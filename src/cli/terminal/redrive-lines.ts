// Redrives in a terminal: what one would find, what it is doing, what it did.
import type { Redrive, RedriveFilter } from '../../domain/delivery/redrive.ts'
import { skipReasons, skipSentences } from '../../domain/delivery/redrive.ts'
import type { Terminal } from '../command.ts'
import { tableLines } from './table.ts'
import { visible } from './visible-text.ts'

export interface DryRun {
  readonly lookedAt: number
  readonly isCapped: boolean
  readonly matched: number
  readonly reasons: readonly {
    readonly reason: string
    readonly count: number
    readonly notificationIds: readonly string[]
  }[]
}

export interface Redriven {
  readonly notificationId: string
  readonly steps: readonly {
    readonly name?: string
    readonly type: string
    readonly way: 'send' | 'decide' | 'wait'
    readonly messages: number
  }[]
}

type Width = Pick<Terminal, 'width'>

const notifications = (count: number): string => `${count} ${count === 1 ? 'notification' : 'notifications'}`

export function dryRunLines({ matched, lookedAt, isCapped, reasons }: DryRun, { width }: Width): string[] {
  if (matched === 0) return [`No failed steps match (${lookedAt} were examined).`]
  const rows = reasons.map(({ reason, count, notificationIds }) => [reason, String(count), notificationIds[0] ?? ''])
  return [
    `${notifications(matched)}${isCapped ? ' or more' : ''} would be redriven; ${lookedAt} failed steps were examined. Failed steps run again, messages that were sent are not sent twice.`,
    ...tableLines(['REASON', 'COUNT', 'FOR EXAMPLE'], rows, { width }),
  ]
}

const wayWords = {
  send: (messages: number) => `${messages} ${messages === 1 ? 'message is' : 'messages are'} sent again`,
  decide: () => 'it is decided and rendered again',
  wait: () => 'the events it collected are processed again',
}

const stepRows = ({ steps }: Redriven): string[][] =>
  steps.map(({ name, type, way, messages }) => [name ?? type, type, wayWords[way](messages)])

/** What would happen to one notification. */
export const previewLines = (preview: Redriven, { width }: Width): string[] => [
  ...tableLines(['STEP', 'TYPE', 'WHAT WOULD HAPPEN'], stepRows(preview), { width }),
  'Nothing was sent: this was a dry run.',
]

export function redrivenLines(redriven: Redriven, { width }: Width): string[] {
  const { notificationId } = redriven
  return [
    ...tableLines(['STEP', 'TYPE', 'WHAT HAPPENS'], stepRows(redriven), { width }),
    `\`posthorn why ${visible(notificationId)}\` shows the result.`,
  ]
}

export const progressWords = ({ lookedAt, matched, redriven }: Redrive): string =>
  `${lookedAt} failed steps examined, ${notifications(matched)} matched, ${redriven} redriven so far`

export function redriveLines(redrive: Redrive): string[] {
  const { _id, state, filter, createdAt, endedAt, lookedAt, matched, redriven, skipped } = redrive
  const left = skipReasons.flatMap((reason) => {
    const count = skipped[reason] ?? 0
    return count === 0 ? [] : [`  ${notifications(count)} skipped: ${skipSentences[reason]}`]
  })
  return [
    `Redrive ${visible(_id)} is ${state}${endedAt === undefined ? ` since ${createdAt}` : `, ended at ${endedAt}`}`,
    visible(`  of ${filterWords(filter)}`),
    `  ${lookedAt} failed steps examined, ${notifications(matched)} matched, ${redriven} redriven`,
    ...left,
  ]
}

export function redrivesLines(redrives: readonly Redrive[], { width }: Width): string[] {
  const rows = redrives.map(({ _id, state, createdAt, matched, redriven, filter }) => [
    _id,
    createdAt,
    state,
    `${redriven} of ${matched}`,
    filterWords(filter),
  ])
  return tableLines(['ID', 'STARTED AT', 'STATE', 'REDRIVEN', 'OF'], rows, { width })
}

const filterWords = (filter: RedriveFilter): string =>
  Object.entries(filter)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ') || 'all that failed'

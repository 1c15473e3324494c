// The end of a scene: wait until nothing is unfinished, gather the facts, and judge them against the ledger.
import { setTimeout as sleep } from 'node:timers/promises'
import { tryCall } from './api.ts'
import type { Facts } from './facts.ts'
import { countUnfinished, describeUnfinished, readMsMax, readRows, totalOf, withClient } from './facts.ts'
import { countReceipts, judge } from './judge.ts'
import type { LedgerEntry } from './ledger.ts'
import { findMarked } from './marked.ts'
import { recipientsOf, smsOwed } from './owed.ts'
import { environmentLetters } from './people.ts'
import { selfTest } from './self-test.ts'
import type { Stage } from './stage.ts'
import type { Verdict } from './verdict.ts'
import { isClean } from './verdict.ts'

const lookEveryMs = 500

/** Resolves with the milliseconds it took, or with undefined when something stayed unfinished. */
export async function settle(stage: Stage, maxMs: number): Promise<number | undefined> {
  const startedAt = Date.now()
  let quiet = 0
  while (Date.now() - startedAt < maxMs) {
    const unfinished = await withClient(stage.connection, countUnfinished).catch(() => undefined)
    // Twice, as a task may just have made way for the jobs it leads to.
    quiet = unfinished !== undefined && totalOf(unfinished) === 0 ? quiet + 1 : 0
    if (quiet === 2) return Date.now() - startedAt
    await sleep(lookEveryMs)
  }
  return undefined
}

export async function verify(
  stage: Stage,
  ledger: readonly LedgerEntry[],
): Promise<{ verdict: Verdict; facts: Facts }> {
  const { sinks } = stage
  await sinks.fetch()
  if (sinks.unreadable > 0) throw new Error(`${sinks.unreadable} messages at the sinks had no marker`)
  const facts = await withClient(
    stage.connection,
    async (client) => {
      const rows = await readRows(client)
      if (totalOf(rows.unfinished) > 0) stage.remarks.push(...(await describeUnfinished(client)))
      const { marks, leftAlone, words, unmarkedDetails } = await findMarked(
        client,
        stage.baseUrls,
        doubtful(ledger, sinks.receipts),
      )
      for (const [id, details] of [...unmarkedDetails].slice(0, 3)) stage.remarks.push(`${id}: ${details.join(' | ')}`)
      for (const [text, count] of [...words].slice(0, 5)) stage.remarks.push(`marked ${count} times by “${text}”`)
      return { ...rows, receipts: sinks.receipts, marks, leftAlone }
    },
    readMsMax,
  )
  const verdict = judge(ledger, facts)
  // Facts that are wrong by themselves would be taken for a mistake of the harness.
  const untried = isClean(verdict) ? selfTest(ledger, facts, verdict) : []
  for (const what of untried) stage.remarks.push(`the harness was not tried with ${what}`)
  await compareWithApi(stage, ledger, facts)
  return { verdict, facts }
}

/** Messages that need a mark: received twice, or an SMS that was not received at all. */
function doubtful(ledger: readonly LedgerEntry[], receipts: Facts['receipts']): string[] {
  const received = countReceipts({ receipts })
  const twice = [...received].filter(([, count]) => count > 1).map(([id]) => id)
  const missing = ledger.flatMap((entry) => {
    if (entry.type !== 'event') return []
    const ids = recipientsOf(entry).flatMap((recipient) => smsOwed(entry, recipient))
    return ids.filter((id) => !received.has(id))
  })
  return [...twice, ...missing]
}

/** How many events are looked up one by one. */
const sampled = 200

/** The rows say what happened; a client must be reported the same. */
async function compareWithApi(stage: Stage, ledger: readonly LedgerEntry[], facts: Facts): Promise<void> {
  const events = ledger.filter((entry) => entry.type === 'event')
  const every = Math.max(1, Math.floor(events.length / sampled))
  const baseUrl = stage.baseUrls[0] ?? ''
  for (const event of events.filter((_, index) => index % every === 0)) {
    const { transactionId, environment } = event
    const answer = await tryCall(baseUrl, { method: 'GET', path: `/v1/events/${transactionId}`, environment })
    if (answer === 'lost' || answer.status !== 200) {
      stage.remarks.push(`GET /v1/events/${transactionId}: ${answer === 'lost' ? answer : answer.status}`)
    } else if (answer.body.state !== 'completed' && totalOf(facts.unfinished) === 0) {
      stage.remarks.push(`GET /v1/events/${transactionId} says ${answer.body.state}, but nothing is unfinished`)
    }
  }
  for (const environment of environmentLetters) {
    const answer = await tryCall(baseUrl, { method: 'GET', path: '/v1/buried', environment })
    if (answer !== 'lost' && answer.body.data?.length > 0) {
      stage.remarks.push(`GET /v1/buried: ${JSON.stringify(answer.body.data[0])}`)
    }
  }
}

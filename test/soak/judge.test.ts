// The pure parts of the soak: the planned load, the judge on facts that are right and on facts made wrong, results of older builds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Facts } from '../../soak/facts.ts'
import { judge } from '../../soak/judge.ts'
import type { EventEntry } from '../../soak/ledger.ts'
import { mergeRuns } from '../../soak/merge.ts'
import { mixtureOf } from '../../soak/mixture.ts'
import { idOf, mailsOwed, recipientsOf, smsOwed } from '../../soak/owed.ts'
import { emailOf, isSuppressed, knownIds, moverIds, newSubscriberOf, phoneOf } from '../../soak/people.ts'
import { planCalls } from '../../soak/plan.ts'
import type { Run } from '../../soak/results.ts'
import { selfTest } from '../../soak/self-test.ts'
import type { Receipt } from '../../soak/sink/record.ts'
import { isClean } from '../../soak/verdict.ts'
import { wordsOwed } from '../../soak/words.ts'
import { workflowOf } from '../../soak/workflows.ts'

const seed = 'judge'
const events = 400
const betweenMs = 10_000

/** As if every call had been acknowledged at once, one after the other, and nothing cancelled. */
function ledgerOf(): EventEntry[] {
  return planCalls(seed, events)
    .flatMap((call) => call.events)
    .map(({ via: _via, cancelAfterMs: _cancel, ...event }, index) => ({
      ...{ type: 'event', ...event, transactionId: event.transactionId ?? `given-${index}`, attempts: 1 },
      ...{ sentAt: index * betweenMs, acknowledgedAt: index * betweenMs + 1 },
    }))
}

/** As if the service had done all that it owes, and no more. */
function rightFacts(ledger: readonly EventEntry[]): Facts {
  const notifications = new Map<string, number>()
  const inApp = new Map<string, string[]>()
  const digests: Facts['digests'][number][] = []
  const receipts: Receipt[] = []
  for (const entry of ledger) {
    const { transactionId, workflow, marker, environment, sentAt } = entry
    for (const recipient of recipientsOf(entry)) {
      const key = `${transactionId} ${recipient}`
      const words = wordsOwed(entry, recipient)
      const arrived = { route: 'single', at: sentAt + 5_000, words }
      const given = entry.recipients.find(({ subscriberId }) => subscriberId === recipient)?.given?.email
      const mail = { ...arrived, channel: 'email', to: given ?? emailOf(recipient) } as const
      notifications.set(key, 1)
      for (const id of mailsOwed(entry, recipient)) receipts.push({ ...mail, id })
      for (const id of smsOwed(entry, recipient)) {
        receipts.push({ ...arrived, channel: 'sms', to: phoneOf(recipient), id })
      }
      if (workflow === 'soak-digest') {
        digests.push({ owner: `${environment} ${recipient}`, events: [marker] })
        const id = idOf(entry, recipient, 'digest')
        if (!isSuppressed(environment, recipient)) receipts.push({ ...mail, id, events: [marker], words: '' })
        continue
      }
      workflowOf(workflow).steps.forEach(({ name, template }, step) => {
        const isInApp = 'type' in template && template.type === 'in_app'
        if (isInApp) inApp.set(`${key} ${step}`, [`soak:${idOf(entry, recipient, name)} ${words}`])
      })
    }
  }
  const unfinished = { jobs: 0, tasks: 0, events: 0, messages: 0 }
  return {
    ...{ notifications, inApp, digests, receipts, unfinished },
    ...{ marks: new Map(), leftAlone: new Set(), jobs: {}, buried: 0 },
  }
}

test('a seed plans the same load again, and some of everything', () => {
  assert.deepEqual(planCalls('again', 50), planCalls('again', 50))
  for (const one of ['a', 'b', 'c', 'd', 'e']) {
    for (const [what, count] of Object.entries(mixtureOf(planCalls(one, events)))) {
      assert.ok(count > 0, `${what} of the seed ${one}`)
    }
  }
})

test('no two people have the same address or number', () => {
  const newIds = planCalls(seed, 20_000)
    .flatMap((call) => call.events.flatMap(({ recipients }) => recipients.map(({ subscriberId }) => subscriberId)))
    .filter((id) => id.startsWith('n'))
  const allIds = [...knownIds, ...newIds, newSubscriberOf(9_999_999, 9)]
  assert.equal(new Set(newIds).size, newIds.length)
  assert.equal(new Set(allIds.map(emailOf)).size, allIds.length)
  assert.equal(new Set(allIds.map(phoneOf)).size, allIds.length)
  for (const id of allIds) assert.match(phoneOf(id), /^\+\d{13}$/)
})

test('what was owed and no more is clean, and everything made wrong on purpose is reported', () => {
  const ledger = ledgerOf()
  const facts = rightFacts(ledger)
  const verdict = judge(ledger, facts)
  assert.deepEqual(verdict.examples, {})
  assert.ok(isClean(verdict))
  assert.ok(verdict.contentChecked > events)
  assert.deepEqual(selfTest(ledger, facts, verdict), [])
  assert.throws(() => selfTest(ledger, facts, { ...verdict, wrongAddress: 1 }), /The harness is wrong/)
})

/** Two events, one after the other, by which the same person gets e-mail and a new address. */
function twoMovesIn(ledger: readonly EventEntry[]): { mover: string; before: EventEntry; event: EventEntry } {
  for (const mover of moverIds) {
    const [before, event] = ledger.filter(
      (entry) =>
        entry.workflow === 'soak-mail' && entry.environment === 'd' && recipientsOf(entry).some((one) => one === mover),
    )
    if (before !== undefined && event !== undefined) return { mover, before, event }
  }
  throw new Error('No one moved twice')
}

test('an e-mail to a person who moved may go to an address of the time, and to none before', () => {
  const ledger = ledgerOf()
  const { mover, before, event } = twoMovesIn(ledger)
  const old = before.recipients.find(({ subscriberId }) => subscriberId === mover)?.given?.email ?? ''
  const id = idOf(event, mover, 'mail')
  const facts = rightFacts(ledger)
  const receipts = facts.receipts.map((one) => (one.id === id ? { ...one, to: old } : one))
  assert.deepEqual(judge(ledger, { ...facts, receipts }).examples, { wrongAddress: [`${id} to ${old}`] })
  const overlapping = ledger.map((entry) => (entry === before ? { ...entry, acknowledgedAt: event.sentAt } : entry))
  assert.equal(judge(overlapping, { ...facts, receipts }).wrongAddress, 0)
})

test('results of older builds count nothing where nothing was counted then', () => {
  const { wrongAddress: _address, contentChecked: _checked, ...older } = judge([], rightFacts([]))
  const result = { scene: 'one-node', kills: 1, nodes: 1, seed, verdict: older }
  const brokenOff = { scene: 'two-nodes', kills: 1, nodes: 2, seed, error: 'It ended' }
  const merged = mergeRuns([{ results: [result, brokenOff] } as unknown as Run], [])
  for (const { scene, sums } of merged) {
    assert.equal(sums.wrongAddress, 0, scene)
    for (const [name, count] of Object.entries(sums)) assert.ok(Number.isInteger(count), `${name} of ${scene}`)
  }
})

// Jobs whose messages were on their way: what was being called counts as perhaps sent, unless it certainly was not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLimits } from '../../deliver/limits.ts'
import type { JobState } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'
import { notYetSent } from '../../domain/messages/message.ts'
import type { UnsentMessage } from '../../store/messages/sending.ts'
import type { JobFacts } from '../decide/job-facts.ts'
import type { Facts } from '../decide/load-facts.ts'
import type { ResumingParts } from './resume-send.ts'
import { resumeSend } from './resume-send.ts'

const now = new Date('2024-02-29T10:00:00.000Z')
const environment = { id: 'e' } as unknown as Environment
const begun = { ...notYetSent, attempts: 3, firstAttemptAt: now.toISOString(), turnStartedAt: now.toISOString() }

const shared = { active: true, primary: true, conditions: [] }

interface Scene {
  readonly channel?: 'email' | 'sms'
  readonly state?: 'calling' | 'ready'
  readonly neverCalled?: boolean
  readonly jobState?: JobState
  readonly isDone?: boolean
  /** Integrations that are active. */
  readonly active?: readonly string[]
  /** The one it was handed on to, and those that had their turn before. */
  readonly integrationId?: string
  readonly tried?: readonly string[]
  readonly isDown?: boolean
}

function resumed(given: Scene) {
  const { channel = 'email', state = 'calling', neverCalled = false, jobState, isDone } = given
  const { active = ['i'], integrationId = 'i', tried = [] } = given
  const providerId = channel === 'email' ? 'sendgrid' : 'infobip-sms'
  const integrations = active.map((_id) => ({ ...shared, _id, identifier: _id, providerId, channel }))
  const sending = { ...begun, tried, heldMs: 86_400_000, dueAt: now.toISOString() }
  const message = { id: 'm', jobId: 'j', channel, state, providerId, integrationId, sending, envelope: {} }
  const job = {
    job: { id: 'j', lease: 'l', status: 'running', state: jobState ?? null, step: 0 },
    step: { template: { type: channel } },
    version: { definition: { steps: [] } },
    event: { overrides: {} },
    integrations,
    channels: [],
  } as unknown as JobFacts
  const unsent = new Map([['j', isDone === true ? [] : [message as unknown as UnsentMessage]]])
  const facts = { integrations, unsent } as unknown as Facts
  const limits = createLimits()
  if (given.isDown === true) for (const id of active) for (let n = 0; n < 5; n += 1) limits.note(id, true, now)
  const parts = { limits, world: { random: () => 0.5 } } as unknown as ResumingParts
  const send = resumeSend(parts, environment, facts, job, {
    now,
    wasNeverCalled: ({ id }, messageId) => neverCalled && id === 'j' && messageId === 'm',
  })
  return 'settlement' in send ? { settlement: send.settlement, results: send.results } : { outgoing: send }
}

test('an e-mail that was being called is repeated, with a warning, and its attempt is not used up', () => {
  const { settlement, results } = resumed({})
  assert.equal(settlement?.status, 'running')
  assert.deepEqual([results?.[0]?.state, results?.[0]?.status], ['ready', 'warning'])
  assert.deepEqual([results?.[0]?.sending.attempts, results?.[0]?.sending.interruptions], [2, 1])
})

test('an SMS that was being called is left unsure: the job is skipped, the message has a warning', () => {
  const { settlement, results } = resumed({ channel: 'sms' })
  assert.equal(settlement?.status, 'skipped')
  assert.deepEqual([results?.[0]?.state, results?.[0]?.status], ['done', 'warning'])
  assert.ok(settlement?.details.some(({ code }) => code === 'leftUnsure'))
})

test('one that was marked by a write without an answer was never called: it is sent, and the mark was no attempt', () => {
  for (const channel of ['email', 'sms'] as const) {
    const { outgoing } = resumed({ channel, neverCalled: true })
    assert.equal(outgoing?.messages[0]?.sending.attempts, 2)
  }
})

test('one that waits for its next attempt is sent as it is', () => {
  const { outgoing } = resumed({ state: 'ready' })
  assert.deepEqual(outgoing?.messages[0]?.sending, { ...begun, heldMs: 86_400_000, dueAt: now.toISOString() })
})

test('where all is known of the messages the job ends: completed, or skipped where none was certainly sent', () => {
  const statusWith = (jobState: JobState) => resumed({ isDone: true, jobState }).settlement?.status
  assert.equal(statusWith({}), 'completed')
  assert.equal(statusWith({ leftUnsure: true }), 'skipped')
  assert.equal(statusWith({ leftUnsure: true, reached: true }), 'completed')
})

test('where the integration that took over is gone, those that had their turn before are asked again', () => {
  const { outgoing } = resumed({ state: 'ready', active: ['a'], integrationId: 'b', tried: ['a'] })
  const [message] = outgoing?.messages ?? []
  assert.equal(message?.integration._id, 'a')
  assert.deepEqual([message?.sending.tried, message?.sending.busyAnswers, message?.sending.attempts], [[], 0, 3])
})

test('one that had no turn yet comes before those that had one', () => {
  const { outgoing } = resumed({ state: 'ready', active: ['a', 'c'], integrationId: 'b', tried: ['a'] })
  assert.equal(outgoing?.messages[0]?.integration._id, 'c')
})

test('a call of an integration that is gone since is repeated by one that had its turn before', () => {
  const { settlement, results } = resumed({ active: ['a'], integrationId: 'b', tried: ['a'] })
  assert.equal(settlement?.status, 'running')
  assert.deepEqual([results?.[0]?.state, results?.[0]?.status], ['ready', 'warning'])
})

test('with no integration left it is over, and waits for nothing', () => {
  const { settlement, results } = resumed({ state: 'ready', active: [], tried: [] })
  assert.equal(settlement?.status, 'failed')
  assert.deepEqual([results?.[0]?.state, results?.[0]?.status], ['done', 'error'])
  assert.equal(results?.[0]?.sending.dueAt, undefined)
})

test('one that was held for three days in all is given up, unless its provider is back', () => {
  const jobState = { heldSince: new Date(now.getTime() - 2 * 86_400_000).toISOString() }
  const { settlement, results } = resumed({ state: 'ready', isDown: true, jobState })
  assert.equal(settlement?.status, 'failed')
  assert.deepEqual([results?.[0]?.state, results?.[0]?.status], ['done', 'error'])
  assert.ok(resumed({ state: 'ready', jobState }).outgoing)
  const shorter = { heldSince: new Date(now.getTime() - 2 * 86_400_000 + 1).toISOString() }
  assert.ok(resumed({ state: 'ready', isDown: true, jobState: shorter }).outgoing)
})

// What the last messages of a step had in letters says how much of a batch its next jobs fill.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Job } from '../domain/delivery/job.ts'
import { createBatchWeights } from './batch-weights.ts'
import type { DecidedBatch } from './decide/decide-batch.ts'

const megabyte = 1024 * 1024
const jobOf = (id: string, versionId: string, step = 0): Job => ({ id, versionId, step }) as Job
const mail = (letters: number) => ({ envelope: { html: 'x'.repeat(letters / 2), text: 'x'.repeat(letters / 2) } })
const decidedOf = (
  sends: readonly { job: Job; messages: readonly object[] }[],
  madeAfter: readonly (readonly [string, string])[] = [],
  more: object = {},
): DecidedBatch =>
  ({
    settlements: [],
    asking: [],
    unrendered: [],
    faulty: [],
    ...more,
    sends: sends.map(({ job, messages }) => ({ facts: { job }, decision: { messages } })),
    madeAfter: new Map(madeAfter),
  }) as unknown as DecidedBatch

test('what is not known weighs nothing', () => {
  assert.equal(createBatchWeights().shareOf(jobOf('one', 'unknown')), 0)
})

test('the next of a step weigh as much as the last on average, and the last batch counts', () => {
  const weights = createBatchWeights()
  const [one, two, other] = [jobOf('one', 'long'), jobOf('two', 'long'), jobOf('other', 'short')]
  const sends = [
    { job: one, messages: [mail(megabyte / 8)] },
    { job: two, messages: [mail(megabyte / 4), mail(megabyte / 8)] },
    { job: other, messages: [mail(100)] },
  ]
  weights.note([one, two, other], decidedOf(sends))
  assert.equal(weights.shareOf(jobOf('three', 'long')), 0.25)
  assert.ok(weights.shareOf(other) < 0.001)
  weights.note([one], decidedOf([{ job: one, messages: [mail(megabyte / 2)] }]))
  assert.equal(weights.shareOf(two), 0.5)
  // As it was not sent: someone has no address, or a condition was not met.
  weights.note([one], decidedOf([]))
  assert.equal(weights.shareOf(two), 0)
})

test('what follows a job at once weighs with it; the steps of a workflow weigh apart', () => {
  const weights = createBatchWeights()
  const [first, follower, last] = [jobOf('in-app', 'order'), jobOf('mail', 'order', 1), jobOf('survey', 'order', 3)]
  weights.note([first], decidedOf([{ job: follower, messages: [mail(megabyte / 4)] }], [['mail', 'in-app']]))
  weights.note([last], decidedOf([{ job: last, messages: [mail(megabyte)] }]))
  assert.deepEqual([first, follower, last].map(weights.shareOf), [0.25, 0, 1])
})

test('what was put off unrendered, as its provider rests, does not make the next lighter', () => {
  const weights = createBatchWeights()
  const [one, two] = [jobOf('one', 'long'), jobOf('two', 'long')]
  weights.note([one], decidedOf([{ job: one, messages: [mail(megabyte / 4)] }]))
  const putOff = [
    { settlements: [{ job: one, status: 'queued' }] },
    { asking: [{ job: one }] },
    { unrendered: [one] },
    { faulty: [{ job: one, error: new Error('too long') }] },
  ]
  for (const more of putOff) weights.note([one], decidedOf([], [], more))
  assert.equal(weights.shareOf(two), 0.25)
  weights.note([one], decidedOf([], [], { settlements: [{ job: one, status: 'skipped' }] }))
  assert.equal(weights.shareOf(two), 0)
})

test('messages that are not e-mails count too, and those without an envelope do not', () => {
  const weights = createBatchWeights()
  const [chat, none] = [jobOf('one', 'chat'), jobOf('two', 'none')]
  const sends = [
    { job: chat, messages: [{ envelope: { content: 'x'.repeat(megabyte / 2) } }] },
    { job: none, messages: [{}] },
  ]
  weights.note([chat, none], decidedOf(sends))
  assert.deepEqual([chat, none].map(weights.shareOf), [0.5, 0])
})

// Which steps of a notification are redriven, and how; which failures a filter finds; under which names vendors are asked.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownIdOf, repeatedIdOf } from '../derived-id.ts'
import { detail } from '../insight/execution-detail.ts'
import type { NotificationStep } from '../workflows/workflow.ts'
import type { JobPlan, RedrivableJob, RedrivableMessage, RedrivePlan } from './redrive.ts'
import { buriedFacts, failureOf, isLookedFor, redrivenState, redrivePlan, redrivesPerJobMax } from './redrive.ts'

const now = new Date('2026-01-02T03:04:05.678Z')
const event = { isCanceled: false, areFilesGone: false }
const step = (type: string): NotificationStep => ({ _id: type, active: true, template: { type } }) as NotificationStep
const steps = ['push', 'email', 'in_app', 'sms'].map(step)

const job = (place: number, more: Partial<RedrivableJob> = {}): RedrivableJob => ({
  id: `job-${place}`,
  step: place,
  status: 'completed',
  isOpen: false,
  isRetracted: false,
  isForFailure: false,
  state: null,
  details: [],
  ...more,
})
const failed = (place: number, more: Partial<RedrivableJob> = {}): RedrivableJob =>
  job(place, { status: 'failed', details: [detail(now, 'providerError')], ...more })
const canceled = (place: number): RedrivableJob => job(place, { status: 'canceled', isForFailure: true })
const message = (id: string, more: Partial<RedrivableMessage> = {}): RedrivableMessage => ({
  id,
  jobId: 'job-0',
  channel: 'push',
  state: 'done',
  status: 'error',
  isDeleted: false,
  isPerhapsSent: false,
  isWhole: true,
  isSuppressed: false,
  ...more,
})
const planned = (jobs: RedrivableJob[], messages: RedrivableMessage[] = []): RedrivePlan => {
  const plan = redrivePlan({ event, steps, jobs, messages })
  assert.ok(typeof plan !== 'string', String(plan))
  return plan
}
const refused = (jobs: RedrivableJob[], messages: RedrivableMessage[] = [], of = event): unknown =>
  redrivePlan({ event: of, steps, jobs, messages })

test('of several messages only those that failed for certain are sent again', () => {
  const messages = [
    message('refused'),
    message('sent', { status: 'sent' }),
    message('perhaps', { status: 'warning' }),
    message('unsure-once', { isPerhapsSent: true }),
    message('deleted', { isDeleted: true }),
    message('erased', { isWhole: false }),
    message('listed', { isSuppressed: true }),
    message('another-job', { jobId: 'job-9' }),
  ]
  const { jobs } = planned([failed(0)], messages)
  assert.deepEqual(
    jobs.map(({ way, messageIds, isReached }) => [way, messageIds, isReached]),
    [['send', ['refused'], true]],
  )
})

test('a step is skipped for the reason that keeps its messages from being sent', () => {
  assert.equal(refused([failed(0)], [message('a', { isPerhapsSent: true })]), 'perhapsSent')
  assert.equal(refused([failed(0)], [message('a', { status: 'warning' })]), 'perhapsSent')
  assert.equal(refused([failed(0)], [message('a', { isWhole: false })]), 'contentGone')
  assert.equal(refused([failed(0)], [message('a', { isDeleted: true })]), 'contentGone')
  assert.equal(refused([failed(0)], [message('a', { isSuppressed: true })]), 'suppressed')
  assert.equal(refused([failed(1)], [], { ...event, areFilesGone: true }), 'filesGone')
  assert.equal(refused([failed(0, { state: { redrives: redrivesPerJobMax } })]), 'tooOften')
})

test('a notification that runs, was retracted, cancelled or is gone is left as it is', () => {
  assert.equal(refused([failed(0), job(1, { status: 'delayed', isOpen: true })]), 'running')
  assert.equal(refused([failed(0), job(1, { isRetracted: true })]), 'retracted')
  assert.equal(refused([failed(0)], [], { ...event, isCanceled: true }), 'canceled')
  assert.equal(redrivePlan({ event: undefined, steps, jobs: [failed(0)], messages: [] }), 'gone')
  assert.equal(refused([job(0), canceled(1)]), 'nothingFailed')
  assert.equal(refused([]), 'nothingFailed')
})

test('a step without messages is decided again; one that was buried at the end of its wait continues', () => {
  const buried = (status: string) =>
    failed(0, { details: [detail(now, 'buried', { raw: { message: 'broken', status, claims: 5 } })] })
  const waysOf = (one: RedrivableJob) => planned([one]).jobs.map(({ way }) => way)
  assert.deepEqual(
    [waysOf(failed(0)), waysOf(buried('queued')), waysOf(buried('delayed'))],
    [['decide'], ['decide'], ['wait']],
  )
})

test('where some failures are meant, the others and what was canceled for them stay as they are', () => {
  const jobs = [failed(0), failed(1), canceled(2)]
  const plan = redrivePlan({ event, steps, jobs, messages: [], isMeant: (one) => one.step === 0 })
  assert.ok(typeof plan !== 'string')
  assert.deepEqual([plan.jobs.map((one) => one.job.id), plan.reopenedIds], [['job-0'], []])
  assert.equal(redrivePlan({ event, steps, jobs, messages: [], isMeant: () => false }), 'nothingFailed')
})

test('only steps canceled for a failure that is redriven are opened again', () => {
  const jobs = [failed(0), failed(1), canceled(2), job(3, { status: 'canceled' })]
  assert.deepEqual(planned(jobs).reopenedIds, ['job-2'])
  // The second failure, for which the third was canceled, was perhaps sent.
  const perhaps = message('a', { jobId: 'job-1', isPerhapsSent: true })
  const plan = planned(jobs, [perhaps])
  assert.deepEqual([plan.jobs.map((one) => one.job.id), plan.reopenedIds], [['job-0'], []])
})

test('a step that is decided again forgets all but what it was held back for', () => {
  const decidedAgain = (state: RedrivableJob['state']): JobPlan => ({
    job: failed(0, { state }),
    way: 'decide',
    messageIds: [],
    isReached: false,
  })
  const state = { conditionTries: 3, calls: 4, providerId: 'sendgrid', redrives: 1, reached: true as const }
  assert.deepEqual(redrivenState(decidedAgain(state), 'r'), { redrives: 2, redriveId: 'r' })
  const held = { ...state, heldBy: 'schedule' as const, windowId: 'w', until: now.toISOString() }
  assert.deepEqual(redrivenState(decidedAgain(held), undefined), {
    heldBy: 'schedule',
    windowId: 'w',
    until: now.toISOString(),
    redrives: 2,
  })
  const { reached: _, ...kept } = state
  const sends = { ...decidedAgain(state), way: 'send' as const }
  assert.deepEqual(redrivenState(sends, undefined), { ...kept, redrives: 2 })
  // One that was given up after some of it was sent is over well, whatever comes of the rest.
  assert.deepEqual(redrivenState({ ...sends, isReached: true }, undefined), { ...state, redrives: 2 })
})

test('the failure of a step is the last thing that made it fail', () => {
  const details = [
    detail(now, 'providerBusy', { raw: { message: 'Wait' } }),
    detail(now, 'providerError', { raw: { message: 'No' }, providerId: 'sendgrid' }),
    detail(now, 'allPushFailed'),
    detail(now, 'receiptFailed'),
  ]
  assert.deepEqual(failureOf(details), { reason: 'providerError', text: '{"message":"No"}', providerId: 'sendgrid' })
  assert.equal(failureOf([detail(now, 'queued')]).reason, 'unknown')
})

test('every member of a filter must fit', () => {
  const one = {
    subscriberId: 's',
    eventId: 'e',
    workflowId: 'w',
    type: 'email',
    providerId: 'ses',
    failure: {
      reason: 'providerError' as const,
      text: 'Mailbox FULL {"message":"no \\"Ada\\""}',
      providerId: undefined,
    },
  }
  const good = [
    {},
    { workflowId: 'w' },
    { channel: 'email' },
    { providerId: 'ses' },
    { errorContains: 'mailbox full' },
    { errorContains: 'no "ada"' },
  ] as const
  for (const bounds of good) assert.equal(isLookedFor(bounds, one), true, JSON.stringify(bounds))
  const bad = [
    { workflowId: 'x' },
    { channel: 'sms' },
    { providerId: 'x' },
    { errorContains: 'quota' },
    { reason: 'buried' },
    { subscriberId: 'x' },
    { workflowId: 'w', eventId: 'x' },
  ] as const
  for (const bounds of bad) assert.equal(isLookedFor(bounds, one), false, JSON.stringify(bounds))
})

test('what was kept of a burial is read, also where it was cut off', () => {
  assert.deepEqual(buriedFacts('{"message":"broken","claims":5}'), { message: 'broken', claims: 5 })
  assert.deepEqual(buriedFacts('{"message":"brok…'), { message: '{"message":"brok…' })
})

test('each redrive has a name of its own, from which the message is known again', () => {
  const id = '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21'
  const names = [0, 1, 2, 3, 4, 5, 6, 7].map((repeats) => repeatedIdOf(id, repeats))
  assert.equal(new Set(names).size, names.length)
  assert.equal(names[0], id)
  for (const name of names) assert.equal(ownIdOf(name), id)
  assert.equal(repeatedIdOf(id, 8), names[1])
})

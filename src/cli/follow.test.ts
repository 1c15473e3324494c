// Following the activity: every outcome once, whatever comes late, waits long, or fails in between.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Activity, ActivityJob } from '../domain/insight/activity.ts'
import type { ActivityReader } from './follow.ts'
import { Follower, readMax } from './follow.ts'

const startedAt = Date.parse('2026-01-02T03:00:00Z')
const at = (seconds: number): string => new Date(startedAt + seconds * 1000).toISOString()

interface Job {
  status: ActivityJob['status']
  details: string[]
}

/** A service whose activity a test writes itself. */
class Scene implements ActivityReader {
  readonly notifications: { id: string; seconds: number; topics: string[]; jobs: Job[]; who: string }[] = []
  readonly warnings: string[] = []
  readonly expanding = new Set<string>()
  readonly asked = { since: 0, ofEvents: 0, progress: 0 }
  pageSize = 2
  broken = false

  add(id: string, seconds: number, jobs: Job[], topics: string[] = []) {
    const notification = { id, seconds, topics, jobs, who: `who-${id}` }
    this.notifications.push(notification)
    return notification
  }

  #page(fitting: (one: Scene['notifications'][number]) => boolean, page: number) {
    if (this.broken) throw new Error('Nothing answers')
    const all = this.notifications.filter(fitting).sort((one, other) => other.seconds - one.seconds)
    const data = all.slice(page * this.pageSize, (page + 1) * this.pageSize).map(activityOf)
    return { data, hasMore: all.length > (page + 1) * this.pageSize }
  }

  async since(from: Date, page: number) {
    this.asked.since += 1
    return this.#page((one) => startedAt + one.seconds * 1000 >= from.getTime(), page)
  }

  async ofEvents(transactionIds: readonly string[], subscriberIds: readonly string[], page: number) {
    this.asked.ofEvents += 1
    return this.#page((one) => transactionIds.includes(`tx-${one.id}`) && subscriberIds.includes(one.who), page)
  }

  async progress(transactionId: string) {
    this.asked.progress += 1
    return this.expanding.has(transactionId) ? ('expanding' as const) : ('completed' as const)
  }

  warn(sentence: string) {
    this.warnings.push(sentence)
  }
}

function activityOf({ id, seconds, topics, jobs, who }: Scene['notifications'][number]): Activity {
  return {
    _id: id,
    transactionId: topics.length === 0 ? `tx-${id}` : `tx-${topics[0]}`,
    createdAt: at(seconds),
    subscriber: { _id: '', subscriberId: who },
    template: { name: 'Order', triggers: [{ identifier: 'order' }] },
    topics: topics.map((topicKey) => ({ _topicId: '', topicKey })),
    isTest: false,
    jobs: jobs.map(({ status, details }, place) => ({
      _id: `${id}-${place}`,
      type: 'email',
      status,
      updatedAt: at(seconds + details.length),
      step: { _id: `step-${place}` },
      executionDetails: details.map((detail) => ({
        detail,
        status: detail === 'busy' ? 'Queued' : detail === 'Message read' ? 'ReadConfirmation' : 'Success',
        source: detail === 'Message delivered' ? 'Webhook' : 'Internal',
        ...(detail === 'busy' ? { raw: '{"message": "answered 503"}' } : {}),
      })),
    })),
  } as unknown as Activity
}

const sent = (): Job => ({ status: 'completed', details: ['queued', 'Message sent'] })
const rounds = async (follower: Follower, count: number): Promise<string[]> => {
  const reported: string[] = []
  for (let round = 0; round < count; round += 1) {
    for (const one of await follower.round()) reported.push(`${one.notificationId} ${one.outcome} ${one.reason}`)
  }
  return reported
}

test('each outcome is reported once, oldest first, over as many pages as there are', async () => {
  const scene = new Scene()
  for (let place = 4; place >= 0; place -= 1) scene.add(`n${place}`, place, [sent()])
  const follower = new Follower(scene, new Date(startedAt))
  assert.deepEqual(
    await rounds(follower, 25),
    [0, 1, 2, 3, 4].map((place) => `n${place} completed Message sent`),
  )
  scene.add('n9', 9, [sent()])
  assert.deepEqual(await rounds(follower, 3), ['n9 completed Message sent'])
})

test('what is older than asked for is not reported', async () => {
  const scene = new Scene()
  scene.add('old', -1, [sent()])
  scene.add('new', 1, [sent()])
  assert.deepEqual(await rounds(new Follower(scene, new Date(startedAt)), 12), ['new completed Message sent'])
})

test('a step that waits is reported as waiting, and again when it is over, however much came since', async () => {
  const scene = new Scene()
  const waiting = scene.add('slow', 0, [
    { status: 'delayed', details: ['queued', 'Step delayed'] },
    { status: 'pending', details: [] },
  ])
  const follower = new Follower(scene, new Date(startedAt))
  assert.deepEqual(await rounds(follower, 2), ['slow delayed Step delayed'])
  scene.add('later', 86_400, [sent()])
  assert.deepEqual(await rounds(follower, 2), ['later completed Message sent'])
  waiting.jobs = [
    { status: 'completed', details: ['queued', 'Delay is finished'] },
    { status: 'completed', details: ['queued', 'Message created', 'Message sent'] },
  ]
  assert.deepEqual(await rounds(follower, 3), ['slow completed Delay is finished', 'slow completed Message sent'])
  const { ofEvents } = scene.asked
  await rounds(follower, 5)
  assert.equal(scene.asked.ofEvents, ofEvents, 'what is over is not asked for again')
})

test('a try that has to be repeated is reported with what was answered, each of them', async () => {
  const scene = new Scene()
  const one = scene.add('n', 0, [{ status: 'running', details: ['queued', 'busy'] }])
  const follower = new Follower(scene, new Date(startedAt))
  assert.deepEqual(await rounds(follower, 2), ['n running busy: answered 503'])
  one.jobs = [{ status: 'running', details: ['queued', 'busy', 'busy'] }]
  assert.deepEqual(await rounds(follower, 2), ['n running busy: answered 503'])
  one.jobs = [{ status: 'running', details: ['queued', 'busy', 'busy', 'Message created'] }]
  assert.deepEqual(await rounds(follower, 2), [], 'on its way is no outcome')
})

test('a step that failed, was redriven and failed again is reported twice; what its reader did afterwards not at all', async () => {
  const scene = new Scene()
  const one = scene.add('n', 0, [{ status: 'failed', details: ['queued', 'refused'] }])
  const follower = new Follower(scene, new Date(startedAt))
  assert.deepEqual(await rounds(follower, 1), ['n failed refused'])
  one.jobs = [{ status: 'failed', details: ['queued', 'refused', 'redriven', 'refused'] }]
  assert.deepEqual(await rounds(follower, 1), ['n failed refused'])
  one.jobs = [
    { status: 'failed', details: ['queued', 'refused', 'redriven', 'refused', 'Message read', 'Message delivered'] },
  ]
  assert.deepEqual(await rounds(follower, 1), [])
})

test('what was committed late is found, though newer ones were reported', async () => {
  const scene = new Scene()
  scene.add('first', 30, [sent()])
  const follower = new Follower(scene, new Date(startedAt))
  await rounds(follower, 2)
  scene.add('late', 0, [sent()])
  assert.deepEqual(await rounds(follower, 12), ['late completed Message sent'])
})

test('members of a topic that are found minutes later are reported, also the last of them', async () => {
  const scene = new Scene()
  scene.add('member-1', 0, [sent()], ['news'])
  scene.expanding.add('tx-news')
  const follower = new Follower(scene, new Date(startedAt))
  await rounds(follower, 1)
  scene.add('other', 600, [sent()])
  await rounds(follower, 10)
  scene.add('member-2', 0, [sent()], ['news'])
  assert.deepEqual(await rounds(follower, 10), ['member-2 completed Message sent'])
  scene.add('member-3', 0, [sent()], ['news'])
  scene.expanding.clear()
  assert.deepEqual(await rounds(follower, 10), ['member-3 completed Message sent'])
  await rounds(follower, 20)
  const { progress } = scene.asked
  await rounds(follower, 20)
  assert.equal(scene.asked.progress, progress, 'an event that has all its recipients is asked for no more')
})

test('nothing is lost where a round could not be read', async () => {
  const scene = new Scene()
  scene.add('n', 0, [sent()])
  const follower = new Follower(scene, new Date(startedAt))
  scene.broken = true
  await assert.rejects(follower.round())
  await assert.rejects(follower.round())
  scene.broken = false
  assert.deepEqual(await rounds(follower, 2), ['n completed Message sent'])
})

test('more than can be read at once is reported, and does not continue forever', async () => {
  const scene = new Scene()
  scene.pageSize = 50
  for (let place = 0; place < readMax + 60; place += 1) scene.add(`n${place}`, place / 1000, [sent()])
  const reported = await rounds(new Follower(scene, new Date(startedAt)), 1)
  assert.equal(reported.length, readMax)
  assert.match(scene.warnings[0] ?? '', /more than 10000 notifications since 2026-01-02T03:00:00.000Z/)
})

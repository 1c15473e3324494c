// The plans of the activity list, pinned: a page looks at about a page of rows, however many notifications there are.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { oneStatement } from '../../src/db/one-statement.ts'
import { sql } from '../../src/db/sql.ts'
import { over } from '../../src/domain/delivery/due.ts'
import { jobIdOf, notificationIdOf } from '../../src/domain/derived-id.ts'
import { findActivity, stampedActivityPage } from '../../src/read/activity/activity.ts'
import type { ActivityQuery } from '../../src/read/activity/activity-filters.ts'
import { activityStamp } from '../../src/read/activity/activity-stamp.ts'
import { findEventProgress } from '../../src/read/activity/event-progress.ts'
import { createPinnedVersions } from '../../src/read/activity/pinned-versions.ts'
import type { NewEvent } from '../../src/store/events/events.ts'
import { eventInsertion } from '../../src/store/events/events.ts'
import type { NewNotification } from '../../src/store/events/notifications.ts'
import { notificationInsertion } from '../../src/store/events/notifications.ts'
import type { NewJob } from '../../src/store/jobs/insert.ts'
import { jobInsertions } from '../../src/store/jobs/insert.ts'
import type { SceneWorkflow } from '../support/activity-scene.ts'
import { ActivityScene, stepOf } from '../support/activity-scene.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { assertBounded, estimatedCosts, explain, explainPrepared, recordStatements } from '../support/plan.ts'
import { addSubscribers } from '../support/topic-scene.ts'

const limit = 10
/** A page and one more, of notifications and of the events that lead to them. */
const rowsExaminedMax = 10 * limit
const pagesTouchedMax = 40 * limit
/** Two thousand of the newest are looked at first, each with what it belongs to; then an index is asked. */
const rowsWalkedMax = 4_200
const pagesWalkedMax = 14_000

const eventCount = 24_000
const batchSize = 2_000
/** These events, old ones, have what no other has. */
const rare = new Set([100, 200, 300])

const versions = createPinnedVersions()
let app: TestApp
let scene: ActivityScene
let busy: SceneWorkflow
let quiet: SceneWorkflow
let fanOut: { id: string; notificationId: string }

before(async () => {
  app = await createTestApp()
  scene = await ActivityScene.of(app)
  busy = await scene.addWorkflow('busy', [stepOf('in_app')])
  quiet = await scene.addWorkflow('quiet', [stepOf('email')])
  const { db } = app.database
  await fill()
  const people = [...(await addSubscribers(app, subscriberNames())).values()]
  for (let at = 0; at < eventCount; at += batchSize) await addBatch(at, people)
  fanOut = await addFanOut(people)
  await db.run(sql`analyze`)
})
after(() => app.close())

const subscriberNames = (): string[] => Array.from({ length: 3_000 }, (_, n) => (n === 7 ? 'silent' : `person-${n}`))

/** Rows of a neighbour, mostly: in a small table a scan of all of it would be right. */
async function fill(): Promise<void> {
  const { db } = app.database
  const neighbour = await ActivityScene.of(app, 'Production')
  await neighbour.addWorkflow('busy', [stepOf('in_app')])
  for (const [id, count] of [
    [scene.environment.id, 100],
    [neighbour.environment.id, 3_000],
  ] as const) {
    await db.run(sql`
      insert into workflows (environment_id, id, identifier, name, tags, active, group_id, version_id, created_by, created_at,
                             updated_at)
      select environment_id, gen_random_uuid(), 'copy-' || n, name, tags, active, group_id, version_id, created_by,
             created_at, updated_at
      from workflows, generate_series(1, ${count}::int) as n where environment_id = ${id} and identifier = 'busy'`)
    await db.run(sql`
      insert into workflow_versions (environment_id, id, workflow_id, number, definition, channels, created_at)
      select w.environment_id, gen_random_uuid(), w.id, 1, v.definition, v.channels, now()
      from workflows w join workflow_versions v on v.environment_id = w.environment_id and v.id = w.version_id
      where w.environment_id = ${id} and w.identifier like 'copy-%'`)
  }
  await db.run(sql`
    insert into integrations (environment_id, id, identifier, name, provider_id, channel, credentials, conditions, active,
                              is_primary, created_at, updated_at)
    select ${neighbour.environment.id}, gen_random_uuid(), 'copy-' || n, 'Copy', 'nodemailer', 'email', '', '[]', false,
           false, now(), now()
    from generate_series(1, 2000) as n`)
  await db.run(sql`
    insert into transactions (environment_id, transaction_id, event_id)
    select ${scene.environment.id}, 'own-' || n, gen_random_uuid() from generate_series(1, 3000) as n`)
  await db.run(sql`
    insert into messages (environment_id, id, event_id, notification_id, job_id, subscriber_id, version_id, step, channel,
                          state, status, created_at, updated_at)
    select ${scene.environment.id}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),
           gen_random_uuid(), gen_random_uuid(), 0, 'in_app', 'done', 'sent', now(), now()
    from generate_series(1, 3000)`)
}

async function addBatch(from: number, people: readonly string[]): Promise<void> {
  const events: NewEvent[] = []
  const notifications: NewNotification[] = []
  const jobs: NewJob[] = []
  for (let n = from; n < from + batchSize; n += 1) {
    app.world.advance(n % 3)
    const workflow = n === 100 ? quiet : busy
    const event = eventOf(n, workflow)
    // The silent one has few; a third of all goes to one person.
    const place = rare.has(n) ? 7 : n % 3 === 0 ? 0 : 8 + (n % 2_900)
    const subscriberId = people[place] ?? assert.fail('no subscriber')
    const id = notificationIdOf(event.id, subscriberId)
    const shared = { eventId: event.id, subscriberId, versionId: workflow.versionId }
    const topicIds = event.topics.map((topic) => topic.id)
    events.push(event)
    notifications.push({ ...shared, id, recipient: null, topicIds: topicIds.length === 0 ? null : topicIds })
    jobs.push({ ...jobOf(event.id, id), ...shared, ...(hasFailed(n) ? { status: 'failed' as const } : {}) })
  }
  await app.database.db.run(
    oneStatement([
      eventInsertion(scene.environment, events),
      notificationInsertion(scene.environment, notifications),
      ...jobInsertions(scene.environment, jobs, { ...unleased, now: app.world.now() }),
    ]),
  )
}

const unleased = { clock: () => sql`${app.world.now()}::timestamptz`, lease: null, leaseMs: 0 }

const crowd = '019b7c7a-2d0e-7a3b-8f10-000000000001'
const few = '019b7c7a-2d0e-7a3b-8f10-000000000002'

function eventOf(n: number, workflow: SceneWorkflow): NewEvent {
  const createdAt = app.world.now()
  const id = app.world.newId(createdAt)
  const topics = rare.has(n) ? [{ id: few, key: 'few' }] : n % 4 === 0 ? [{ id: crowd, key: 'crowd' }] : []
  return {
    id,
    transactionId: id,
    workflowId: workflow.id,
    versionId: workflow.versionId,
    payload: { n },
    overrides: {},
    actorId: null,
    tenantId: null,
    contextKeys: rare.has(n) ? ['app:rare'] : n % 5 === 0 ? ['app:web'] : null,
    severity: n === 200 ? 'high' : n % 10 === 0 ? 'medium' : null,
    lane: 0,
    recipients: null,
    topics,
    excluded: [],
    warnings: [],
    notified: 1,
    isBroadcast: false,
    attachments: 0,
    createdAt,
    expandedAt: createdAt,
  }
}

const jobOf = (eventId: string, notificationId: string) => ({
  id: jobIdOf(eventId, notificationId, 0),
  notificationId,
  step: 0,
  status: 'completed' as const,
  due: over,
  lane: 0,
  digestId: null,
  state: null,
  details: [],
})

/** One in twenty, and the only one of the quiet workflow. */
const hasFailed = (n: number): boolean => n % 20 === 7 || n === 100

/** The newest event, to a thousand. */
async function addFanOut(people: readonly string[]): Promise<{ id: string; notificationId: string }> {
  app.world.advance(1)
  const event = await scene.addEvent(
    busy,
    people.slice(10, 1_010).map((subscriberId) => ({ subscriberId })),
  )
  const jobs = event.notifications.map((one) => ({ ...one, ...jobOf(event.id, one.id), versionId: busy.versionId }))
  await app.database.db.run(oneStatement(jobInsertions(scene.environment, jobs, { ...unleased, now: app.world.now() })))
  return { id: event.id, notificationId: event.notifications[0]?.id ?? assert.fail('no notification') }
}

type Filters = Partial<ActivityQuery>
const read = (filters: Filters) => (db: Parameters<typeof stampedActivityPage>[0]) =>
  stampedActivityPage(db, scene.environment, { page: 0, limit, ...filters }, versions)

async function pinned(what: string, filters: Filters, expected: number): Promise<void> {
  const bounds = { rows: rowsExaminedMax, pages: pagesTouchedMax }
  const { page } = await assertBounded(app.database.db, what, bounds, read(filters))
  assert.equal(page.data.length, expected, what)
}

async function pinnedWalk(what: string, filters: Filters, expected: number): Promise<void> {
  const bounds = { rows: rowsWalkedMax, pages: pagesWalkedMax }
  const { page } = await assertBounded(app.database.db, what, bounds, read(filters))
  assert.equal(page.data.length, expected, what)
}

/** Where there are several filters, up to a thousand rows of each are counted. */
async function pinnedCounted(what: string, filters: Filters, expected: number): Promise<void> {
  const bounds = { rows: 3_000 + rowsExaminedMax, pages: pagesWalkedMax }
  const { page } = await assertBounded(app.database.db, what, bounds, read(filters))
  assert.equal(page.data.length, expected, what)
}

/** A time in the middle of the list, where a page must not cost what lies before it. */
const middle = (): string => new Date(Date.parse('2026-01-02T03:04:05.678Z') + eventCount / 2).toISOString()

test('a page without filters looks at a page of rows, at the newest and in the middle', async () => {
  await pinned('nothing', {}, limit)
  await pinned('before', { before: middle() }, limit)
  await pinned('after', { after: middle() }, limit)
})

test('a page without filters is two prepared statements, and a third where no provider was chosen yet', async () => {
  await read({})(app.database.db)
  const recording = recordStatements(app.database.db)
  await read({})(recording)
  assert.deepEqual(
    recording.statements.map(({ name }) => name),
    ['activity-newest short', 'activity-jobs', 'integrations-standings'],
  )
  const [newest, jobs] = recording.statements
  for (const statement of [newest, jobs]) {
    const plan = await explainPrepared(app.database.db, statement ?? assert.fail('nothing ran'))
    assert.equal(plan.hasSequentialScan, false, plan.text)
    assert.ok(plan.rowsExamined <= rowsExaminedMax, plan.text)
    assert.ok(plan.pagesTouched <= pagesTouchedMax, plan.text)
    const events = [...plan.relations].filter((name) => name.startsWith('events_'))
    assert.ok(events.length <= 1, plan.text)
    // No more than for the values themselves: the server keeps the plan only then.
    const costs = await estimatedCosts(app.database.db, statement ?? assert.fail('nothing ran'))
    assert.ok(costs.prepared <= costs.once, JSON.stringify(costs))
  }
})

test('whether the newest page is still the same is asked in one prepared statement, which looks at its own rows', async () => {
  const { page, stamped } = await read({})(app.database.db)
  const jobIds = page.data.flatMap(({ jobs }) => jobs.map(({ _id }) => _id))
  assert.equal(stamped, undefined, 'no provider was chosen yet')
  const recording = recordStatements(app.database.db)
  await activityStamp(recording, scene.environment, limit, jobIds)
  const [statement = assert.fail('nothing ran'), ...others] = recording.statements
  assert.deepEqual([statement.name, others.length], ['activity-stamp short', 0])
  const plan = await explainPrepared(app.database.db, statement)
  assert.equal(plan.hasSequentialScan, false, plan.text)
  assert.ok(plan.rowsExamined <= rowsExaminedMax, plan.text)
  assert.ok(plan.pagesTouched <= pagesTouchedMax, plan.text)
  const costs = await estimatedCosts(app.database.db, statement)
  assert.ok(costs.prepared <= costs.once, JSON.stringify(costs))
})

test('an event’s notifications are found by its transaction', async () => {
  await pinned('transaction', { transactionId: [fanOut.id] }, limit)
  await pinned('transaction, second page', { transactionId: [fanOut.id], page: 1 }, limit)
  await pinned('transactions', { transactionId: [fanOut.id, 'unknown'] }, limit)
})

test('a subscriber’s notifications are found by the subscriber, few or many', async () => {
  await pinned('silent', { subscriberIds: ['silent'] }, 3)
  await pinned('busy', { subscriberIds: ['person-0'] }, limit)
  await pinned('both', { subscriberIds: ['silent', 'person-0', 'nobody'] }, limit)
  await pinned('busy, before', { subscriberIds: ['person-0'], before: middle() }, limit)
})

test('a workflow’s notifications are found by its versions, one or many', async () => {
  await pinned('rare', { templates: [quiet.id] }, 1)
  await pinned('busy', { templates: [busy.id] }, limit)
  await pinned('busy, before', { templates: [busy.id], before: middle() }, limit)
})

test('a severity’s notifications are found by its events, one or many', async () => {
  await pinned('rare', { severity: ['high'] }, 1)
  await pinned('common', { severity: ['medium'] }, limit)
  await pinned('both', { severity: ['medium', 'high'] }, limit)
  await pinned('absent', { severity: ['low'] }, 0)
  await pinned('none', { severity: ['none'] }, limit)
  await pinned('common, before', { severity: ['medium'], before: middle() }, limit)
})

test('a context’s notifications are found by its events, few or many', async () => {
  await pinned('rare', { contextKeys: ['app:rare'] }, 3)
  await pinned('common', { contextKeys: ['app:web'] }, limit)
  await pinned('absent', { contextKeys: ['app:none'] }, 0)
  await pinned('without', { contextKeys: [''] }, limit)
})

test('a topic’s notifications are found among the newest or by its events', async () => {
  await pinnedWalk('rare', { topicKey: 'few' }, 3)
  await pinnedWalk('common', { topicKey: 'crowd' }, limit)
  await pinnedWalk('absent', { topicKey: 'none' }, 0)
})

test('a channel’s notifications are found among the newest or by its versions', async () => {
  await pinnedWalk('rare', { channels: ['email'] }, 1)
  await pinnedWalk('common', { channels: ['in_app'] }, limit)
  await pinnedWalk('absent', { channels: ['sms'] }, 0)
})

test('people are found by their addresses among the newest or by the index of runs', async () => {
  await pinnedWalk('rare address', { emails: ['silent@example.org'] }, 3)
  await pinnedWalk('common part', { search: 'example.org' }, limit)
  await pinnedWalk('rare part', { search: 'silent@' }, 3)
  await pinnedWalk('absent', { search: 'nobody@' }, 0)
  await pinnedWalk('an id', { search: 'silent' }, 3)
})

test('several filters go by the narrow one, or look among the newest first', async () => {
  await pinnedWalk('common', { severity: ['medium'], templates: [busy.id], contextKeys: ['app:web'] }, limit)
  await pinnedCounted('rare severity', { severity: ['high'], templates: [busy.id] }, 1)
  await pinnedCounted('rare workflow', { severity: ['medium'], templates: [quiet.id] }, 1)
  await pinnedCounted('rare context', { severity: ['medium'], contextKeys: ['app:rare'], channels: ['in_app'] }, 1)
  await pinnedCounted('rare topic', { topicKey: 'few', channels: ['in_app'], templates: [busy.id] }, 2)
  await pinnedCounted('silent', { subscriberIds: ['silent'], severity: ['medium'], channels: ['in_app'] }, 1)
  await pinnedCounted('rare severity of a busy one', { subscriberIds: ['person-0'], severity: ['high'] }, 0)
})

test('notifications that failed are found by their failed jobs, or by a narrow filter', async () => {
  await pinned('any', { failed: ['any'] }, limit)
  await pinned('second page', { failed: ['any'], page: 1 }, limit)
  await pinned('before', { failed: ['any'], before: middle() }, limit)
  await pinned('common type', { failed: ['in_app'] }, limit)
  await pinned('of an event without failures', { failed: ['any'], transactionId: [fanOut.id] }, 0)
  // All that failed are looked at, and nothing else.
  await pinnedWalk('rare type', { failed: ['email'] }, 1)
  await pinnedWalk('absent provider', { failedProviders: ['sendgrid'] }, 0)
  await pinnedWalk(
    'absent call',
    { failedProviders: ['sendgrid', 'ses'], failedReasons: ['providerError', 'buried'] },
    0,
  )
  await pinnedCounted('rare workflow', { failed: ['any'], templates: [quiet.id] }, 1)
  await pinnedCounted('silent', { failed: ['any'], subscriberIds: ['silent'] }, 1)
})

test('one notification is found with its jobs and messages by key', async () => {
  const { db } = app.database
  const bounds = { rows: rowsExaminedMax, pages: pagesTouchedMax }
  const found = await assertBounded(db, 'detail', bounds, (recording) =>
    findActivity(recording, scene.environment, fanOut.notificationId, versions),
  )
  assert.equal(found?.jobs.length, 1)
})

test('the progress of an event looks at the jobs of that event alone', async () => {
  const bounds = { rows: 1_100, pages: 2_000 }
  const found = await assertBounded(app.database.db, 'progress', bounds, (recording) =>
    findEventProgress(recording, scene.environment, fanOut.id),
  )
  assert.equal(found?.counts.byOutcome.completed, 1_000)
})

test('a walk over all notifications would be noticed', async () => {
  const plan = await explain(
    app.database.db,
    sql`select id from notifications where environment_id = ${scene.environment.id} and recipient is not null
        order by id desc limit 1`,
  )
  assert.ok(plan.rowsExamined > rowsWalkedMax, plan.text)
})

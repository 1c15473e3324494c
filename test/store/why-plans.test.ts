// The plans of why, pinned: an answer looks at its own rows, however many notifications there are.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { oneStatement } from '../../src/db/one-statement.ts'
import { sql } from '../../src/db/sql.ts'
import { notificationIdOf } from '../../src/domain/derived-id.ts'
import { whyNotification, whySubscriber } from '../../src/read/why/why.ts'
import type { NewEvent } from '../../src/store/events/events.ts'
import { eventInsertion } from '../../src/store/events/events.ts'
import { notificationInsertion } from '../../src/store/events/notifications.ts'
import type { SceneWorkflow } from '../support/activity-scene.ts'
import { ActivityScene, stepOf } from '../support/activity-scene.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { assertBounded } from '../support/plan.ts'
import { addSubscribers } from '../support/topic-scene.ts'

const eventCount = 12_000
const batchSize = 2_000
const few = { rows: 60, pages: 250 }
/** An event without recipients is looked for among the newest two thousand. */
const walked = { rows: 2_100, pages: 2_500 }

let app: TestApp
let scene: ActivityScene
let busy: SceneWorkflow
let quiet: SceneWorkflow
let quietId: string
before(async () => {
  app = await createTestApp()
  scene = await ActivityScene.of(app)
  busy = await scene.addWorkflow('busy', [stepOf('in_app')])
  quiet = await scene.addWorkflow('quiet', [stepOf('email')])
  await addNeighbours()
  const names = Array.from({ length: 2_000 }, (_, n) => `person-${n}`)
  const people = await addSubscribers(app, names)
  const first = await scene.addEvent(quiet, [{ subscriberId: idOf(people, 'person-7') }])
  quietId = first.notifications[0]?.id ?? assert.fail('no notification')
  for (let from = 0; from < eventCount; from += batchSize) await addBatch(from, people)
  await app.database.db.run(sql`analyze`)
})
after(() => app.close())

const idOf = (people: ReadonlyMap<string, string>, name: string): string =>
  people.get(name) ?? assert.fail(`there is no ${name}`)

/** In a small table a scan of all of it would be right. */
async function addNeighbours(): Promise<void> {
  const { db } = app.database
  const neighbour = await ActivityScene.of(app, 'Production')
  await neighbour.addWorkflow('busy', [stepOf('in_app')])
  await db.run(sql`
    insert into workflows (environment_id, id, identifier, name, tags, active, group_id, version_id, created_by, created_at,
                           updated_at)
    select environment_id, gen_random_uuid(), 'copy-' || n, name, tags, active, group_id, version_id, created_by,
           created_at, updated_at
    from workflows, generate_series(1, 3000) as n
    where environment_id = ${neighbour.environment.id} and identifier = 'busy'`)
  await db.run(sql`
    insert into workflow_versions (environment_id, id, workflow_id, number, definition, channels, created_at)
    select w.environment_id, gen_random_uuid(), w.id, 1, v.definition, v.channels, now()
    from workflows w join workflow_versions v on v.environment_id = w.environment_id and v.id = w.version_id
    where w.environment_id = ${neighbour.environment.id} and w.identifier like 'copy-%'`)
  await db.run(sql`
    insert into integrations (environment_id, id, identifier, name, provider_id, channel, credentials, conditions, active,
                              is_primary, created_at, updated_at)
    select ${neighbour.environment.id}, gen_random_uuid(), 'mail-' || n, 'Mail', 'sendgrid', 'email', '', '[]', true, false,
           now(), now()
    from generate_series(1, 3000) as n`)
  await db.run(sql`
    insert into messages (environment_id, id, event_id, notification_id, job_id, subscriber_id, version_id, step, channel,
                          state, status, created_at, updated_at)
    select ${scene.environment.id}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),
           gen_random_uuid(), gen_random_uuid(), 0, 'in_app', 'done', 'sent', now(), now()
    from generate_series(1, 3000)`)
  await db.run(sql`
    insert into jobs (environment_id, id, notification_id, event_id, subscriber_id, version_id, step, status, lane, claims,
                      details, created_at, updated_at)
    select ${scene.environment.id}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),
           gen_random_uuid(), 0, 'completed', 0, 0, '[]', now(), now()
    from generate_series(1, 3000)`)
}

async function addBatch(from: number, people: ReadonlyMap<string, string>): Promise<void> {
  const events = Array.from({ length: batchSize }, () => eventOf())
  const notifications = events.map((event, index) => {
    const subscriberId = idOf(people, `person-${100 + ((from + index) % 1_900)}`)
    const id = notificationIdOf(event.id, subscriberId)
    return { id, eventId: event.id, subscriberId, versionId: busy.versionId, recipient: null, topicIds: null }
  })
  await app.database.db.run(
    oneStatement([eventInsertion(scene.environment, events), notificationInsertion(scene.environment, notifications)]),
  )
}

function eventOf(): NewEvent {
  app.world.advance(1)
  const createdAt = app.world.now()
  const id = app.world.newId(createdAt)
  return {
    id,
    transactionId: id,
    workflowId: busy.id,
    versionId: busy.versionId,
    payload: {},
    overrides: {},
    actorId: null,
    tenantId: null,
    contextKeys: null,
    severity: null,
    lane: 0,
    recipients: null,
    topics: [],
    excluded: [],
    warnings: [],
    notified: 1,
    isBroadcast: false,
    attachments: 0,
    createdAt,
    expandedAt: createdAt,
  }
}

test('a notification is explained by its own rows', async () => {
  const why = await assertBounded(app.database.db, 'notification', few, (db) =>
    whyNotification(db, scene.environment, quietId),
  )
  assert.equal(why.notificationId, quietId)
})

test('the last notification of someone is found by their index', async () => {
  const question = { subscriberId: 'person-150', workflow: 'busy' }
  const why = await assertBounded(app.database.db, 'subscriber', few, (db) =>
    whySubscriber(db, scene.environment, question),
  )
  assert.ok('notificationId' in why)
})

test('why there is none looks at the newest events and at what the workflow last became, and at no more', async () => {
  for (const [workflow, code] of [
    ['busy', 'notNamed'],
    ['quiet', 'notNamed'],
  ] as const) {
    const why = await assertBounded(app.database.db, workflow, walked, (db) =>
      whySubscriber(db, scene.environment, { subscriberId: 'person-3', workflow }),
    )
    assert.ok('reasons' in why)
    assert.equal(why.reasons.at(-1)?.code, code)
  }
})

// The hub by itself: when it is hinted at, and what it does after its stop.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import type { Follower } from '../../src/realtime/follower.ts'
import { createInboxHints } from '../../src/realtime/hints.ts'
import { createHub } from '../../src/realtime/hub.ts'
import { lastId } from '../../src/realtime/look.ts'
import type { Presence } from '../../src/realtime/presence.ts'
import { changeInboxes } from '../../src/record/change-inboxes.ts'
import { markMessages } from '../../src/store/messages/marks.ts'
import { findEnvironments } from '../../src/store/operate/installation.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { inboxOf } from '../support/inbox-scene.ts'
import { addressOf, openStream, until, withoutSweeps } from '../support/stream-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

async function subscriberOf(subscriberId: string) {
  const row = await app.database.db.row<{ id: string; environment_id: string }>(
    sql`select id, environment_id from subscribers where subscriber_id = ${subscriberId}`,
  )
  const [environment] = await findEnvironments(app.database.db, [row?.environment_id ?? ''])
  assert.ok(row !== undefined && environment !== undefined)
  return { id: row.id, environment }
}

test('a hint follows its commit, so that one look finds the change; what is rolled back is not hinted at', async (t) => {
  withoutSweeps(t.mock)
  const scene = new FlowScene(app)
  const workflow = await scene.workflow([inApp('Hello')])
  const page = await inboxOf(app, 'ada')
  const stream = await openStream(await addressOf(app), '/v1/inbox/stream', { authorization: `Bearer ${page.token}` })
  await stream.next('unseen_count_changed')
  const { id, environment } = await subscriberOf('ada')
  await scene.run(workflow, 'ada')
  await stream.next('notification_received', (event) => event.id === '1')
  const hinted: string[] = []
  const hint = app.world.inboxHint
  app.world.inboxHint = (environmentId, ids) => {
    hinted.push(...ids)
    hint?.(environmentId, ids)
  }
  const { db } = app.database
  const undone = db.transaction(async (tx) => {
    await changeInboxes(tx, app.world, environment, [id])
    throw new Error('undone')
  })
  await assert.rejects(undone, /undone/)
  await db.transaction(async (tx) => {
    const counted = await changeInboxes(tx, app.world, environment, [id])
    await tx.run(sql`update messages set change = ${counted.get(id)} where subscriber_id = ${id}`)
    assert.deepEqual(hinted, [], 'not before the commit')
  })
  assert.deepEqual(hinted, [id])
  await stream.next('notification_updated', (event) => event.id === '2')
  app.world.inboxHint = hint
  stream.close()
})

test('whoever comes after the stop is ended, and nothing begins for it', async () => {
  await inboxOf(app, 'bea')
  const { id, environment } = await subscriberOf('bea')
  const { db } = app.database
  let begun = 0
  const onFirst = () => {
    begun += 1
  }
  const hub = createHub(db, app.world, { hints: createInboxHints(db, 'x'), onFirst })
  await hub.stop()
  const endings: string[] = []
  hub.add({ ...followerOf({ environment, id }), end: (why) => endings.push(why) })
  assert.deepEqual([endings, begun, hub.size], [['stopping'], 0, 0])
})

test('pages that come back together are looked up in one statement, each by its own session', async () => {
  const names = Array.from({ length: 20 }, (_, place) => `together-${place}`)
  for (const name of names) await inboxOf(app, name)
  const readers = await Promise.all(names.map(subscriberOf))
  const { db } = app.database
  let statements = 0
  const counting: typeof db = {
    ...db,
    rows: (statement) => {
      statements += 1
      return db.rows(statement)
    },
  }
  const hub = createHub(counting, app.world, { hints: createInboxHints(db, 'x') })
  const sessions = readers.map((reader, place) => ({ ...followerOf(reader), generation: place === 7 ? 9 : 0 }))
  const entered = await Promise.allSettled(sessions.map((session) => hub.enter(session, undefined)))
  assert.equal(statements, 1)
  assert.deepEqual(
    entered.flatMap(({ status }, place) => (status === 'rejected' ? [place] : [])),
    [7],
  )
  await hub.stop()
})

test('messages without a number are searched for soon after a new inbox is followed, and never in an old one', async () => {
  const { db } = app.database
  const scene = new FlowScene(app)
  const workflow = await scene.workflow([inApp('Hello')])
  const names = ['new', 'old', 'later']
  let nowMs = 0
  const hub = createHub(db, app.world, { hints: createInboxHints(db, 'y'), monotonicMs: () => nowMs })
  const follow = async (name: string): Promise<void> => {
    const { id, environment } = await subscriberOf(name)
    hub.add(followerOf({ environment, id }))
  }
  for (const name of names) {
    await scene.run(workflow, name)
    const { id, environment } = await subscriberOf(name)
    const [{ _id: messageId }] = await scene.feed(name)
    await db.transaction(async (tx) => {
      await inboxOf(app, name)
      await markMessages(tx, environment, {
        ...{ ids: [messageId], subscriberId: id, mark: 'read', now: app.world.now(), counted: new Map() },
      })
    })
  }
  const { id: old } = await subscriberOf('old')
  const longAgo = new Date(app.world.now().getTime() - 630_000)
  await scene.rows(sql`update inbox_changes set opened_at = ${longAgo} where subscriber_id = ${old}`)
  const numbered = async () => {
    const rows = await scene.rows(sql`
      select s.subscriber_id from messages m join subscribers s on s.id = m.subscriber_id
      where m.change is not null and s.subscriber_id = any(${names}) order by 1`)
    return rows.map((row) => row.subscriber_id)
  }
  await follow('new')
  await follow('old')
  nowMs = 2_000
  await follow('later')
  hub.sweep()
  await hub.stop()
  assert.deepEqual(await numbered(), ['new'])
})

test('a hint of another node that came before its commit is looked at again', async (t) => {
  const { db } = app.database
  const scene = new FlowScene(app)
  const workflow = await scene.workflow([inApp('Hello')])
  await inboxOf(app, 'dee')
  await scene.run(workflow, 'dee')
  const { id, environment } = await subscriberOf('dee')
  const hints = createInboxHints(db, 'x')
  withoutSweeps(t.mock)
  const hub = createHub(db, app.world, { hints })
  t.after(() => hub.stop())
  const delivered: string[] = []
  const follower = followerOf({ environment, id })
  hub.add({
    ...follower,
    place: { number: 1, messageId: lastId },
    deliver: (news) => {
      delivered.push(...news.map((one) => one.kind))
    },
  })
  await db.transaction(async (tx) => {
    const counted = await changeInboxes(tx, app.world, environment, [id])
    await tx.run(sql`update messages set change = ${counted.get(id)} where subscriber_id = ${id}`)
    hints.hear(`other ${environment.id} ${id.replaceAll('-', '')}`)
    // The first look is over.
    await db.rows(sql`select pg_sleep(0.05)`)
    assert.deepEqual(delivered, [])
  })
  await until(() => delivered.length > 0)
})

test('the first connection of a subscriber is reported, and the last one that closes', async () => {
  await inboxOf(app, 'cleo')
  const { id, environment } = await subscriberOf('cleo')
  const { db } = app.database
  const reported: string[] = []
  const presence: Presence = {
    arrived: (_environment, subscriberId) => reported.push(`arrived ${subscriberId === id}`),
    left: (_environment, subscriberId) => reported.push(`left ${subscriberId === id}`),
    write: async () => {},
    stop: async () => {
      reported.push('stop')
    },
  }
  const hub = createHub(db, app.world, { hints: createInboxHints(db, 'x'), presence })
  const [first, second] = [followerOf({ environment, id }), followerOf({ environment, id })]
  hub.add(first)
  hub.add(second)
  hub.leave(first)
  assert.deepEqual(reported, ['arrived true'])
  hub.leave(second)
  hub.leave(second)
  assert.deepEqual(reported, ['arrived true', 'left true'])
  hub.add(first)
  await hub.stop()
  hub.leave(first)
  // Connections that a stop ends open again elsewhere.
  assert.deepEqual(reported.slice(2), ['arrived true', 'stop'])
})

const followerOf = ({ environment, id }: { environment: Environment; id: string }): Follower => ({
  reader: { environment, id, subscriberId: 'x', contextKeys: [] },
  generation: 0,
  expiresAtMs: Number.POSITIVE_INFINITY,
  place: { number: 0, messageId: '' },
  isFresh: false,
  deliver: () => {},
  end: () => {},
})

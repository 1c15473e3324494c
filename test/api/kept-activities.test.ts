// The newest page of activities, which is answered from what was kept: whatever changed shows in the very next read.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { json, sql } from '../../src/db/sql.ts'
import { stampedActivityPage } from '../../src/read/activity/activity.ts'
import { createPinnedVersions } from '../../src/read/activity/pinned-versions.ts'
import type { CallOptions, Json, TestApp, TestAppOptions, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { createFaultyDb } from '../support/faulty-db.ts'
import { FlowScene, MailScript } from '../support/flow-scene.ts'
import type { Random } from '../support/random.ts'
import { createRandom, fuzzRounds, fuzzSeed } from '../support/random.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { delay, digest, email, inApp } from '../support/workflow-scene.ts'

/** `kept`: only the stamp was asked for. `stale`: the stamp, and then the page. `full`: the page at once. */
type Way = 'kept' | 'stale' | 'full'

interface Node {
  readonly app: TestApp
  read(query?: string, options?: CallOptions): Promise<TestReply & { readonly way: Way }>
}

async function createNode(options: TestAppOptions = {}): Promise<Node> {
  let names: string[] = []
  const note = ({ name = '' }: { name?: string }): undefined => {
    names.push(name)
  }
  const app = await createTestApp({ ...options, faulty: (db) => createFaultyDb(db, note) })
  return {
    app,
    read: async (query = '', call = {}) => {
      names = []
      const reply = await app.call('GET', `/v1/notifications${query}`, call)
      const wasStamped = names.some((name) => name.startsWith('activity-stamp'))
      const wasRead = names.includes('activity-jobs') || names.some((name) => name.startsWith('activity-newest'))
      return { ...reply, way: wasRead ? (wasStamped ? 'stale' : 'full') : 'kept' }
    },
  }
}

let nodes: [Node, Node]
let app: TestApp
let scene: FlowScene
let workflows: Record<'inApp' | 'both' | 'delayed' | 'digested', string>
let workflowIds: string[]
let readKey: string
before(async () => {
  const first = await createNode()
  app = first.app
  nodes = [first, await createNode({ nodeOf: app })]
  scene = new FlowScene(app)
  const mail = new MailScript(scene)
  await mail.account('provider')
  const made = {
    inApp: await scene.created([inApp('said')]),
    both: await scene.created([inApp('said'), email('subject')]),
    delayed: await scene.created([inApp('first'), delay(), inApp('second')]),
    digested: await scene.created([digest(), inApp('{{step.total_count}}')]),
  }
  workflowIds = Object.values(made).map((one: Json) => one._id)
  const named = Object.entries(made).map(([name, one]: [string, Json]) => [name, one.triggers[0].identifier])
  workflows = Object.fromEntries(named)
  await scene.subscribers('ada', 'bob', 'cleo')
  const keyed = await scene.expect(201, 'POST', '/v1/environments/api-keys', { name: 'reader', scopes: ['read'] })
  readKey = keyed.key
})
after(async () => {
  for (const node of nodes.toReversed()) await node.app.close()
})

async function directPage(limit = 10): Promise<Json> {
  const environment = await environmentOf(app, 'Development')
  const { page } = await stampedActivityPage(app.database.db, environment, { page: 0, limit }, createPinnedVersions())
  return JSON.parse(JSON.stringify(page))
}

/** Later than all before it: of one millisecond any may be the newest. */
function triggered(name: string, to: string, more: object = {}): Promise<string> {
  for (const node of nodes) node.app.world.advance(1_000)
  return scene.trigger(name, to, more)
}

/** Fills the page with what is over: only such pages are kept. */
async function settle(): Promise<void> {
  for (let count = 0; count < 11; count += 1) await triggered(workflows.both, 'ada', { payload: { count } })
  await scene.work()
}

const kept = async (node: Node, query = ''): Promise<TestReply> => {
  let reply = await node.read(query)
  for (let reads = 0; reads < 3 && reply.way !== 'kept'; reads += 1) reply = await node.read(query)
  assert.equal(reply.way, 'kept')
  return reply
}

test('a page that is over is read once, and is the same letter by letter when it is sent again', async () => {
  await settle()
  const [node] = nodes
  const first = await node.read()
  const second = await node.read()
  const third = await node.read()
  assert.deepEqual([second.way, third.way], ['kept', 'kept'], first.way)
  assert.deepEqual([second.text, third.text], [first.text, first.text])
  assert.deepEqual(second.headers['content-type'], first.headers['content-type'])
  assert.deepEqual(first.body, await directPage())
  assert.equal(first.body.hasMore, true)
})

const changes: Record<string, (id: string) => Promise<unknown>> = {
  'a new event': () => triggered(workflows.inApp, 'bob'),
  'a subscriber who is renamed': () => scene.expect(200, 'PATCH', '/v2/subscribers/ada', { firstName: 'Augusta' }),
  'a subscriber who is deleted': () => scene.expect(200, 'DELETE', '/v1/subscribers/ada'),
  'a detail that a job gets later': (id) =>
    scene.rows(sql`
      update jobs set details = details || ${json([{ code: 'messageSent', at: app.world.now().toISOString() }])}::jsonb
      where notification_id = ${id} and step = 0`),
  'another maker of a workflow': () =>
    scene.rows(sql`update workflows set origin = 'external' where origin <> 'external'`),
}
for (const [name, change] of Object.entries(changes)) {
  test(`the very next read shows ${name}, on this node and on another`, async () => {
    await app.call('POST', '/v2/subscribers', { body: { subscriberId: 'ada', email: 'ada@example.org' } })
    await settle()
    const before = await Promise.all(nodes.map((node) => kept(node)))
    await change(before[0]?.body.data[0]._id)
    const direct = await directPage()
    for (const node of nodes) assert.deepEqual((await node.read()).body, direct)
  })
}

test('a read that may not show addresses never gets what was kept for one that may, nor the other way around', async () => {
  await app.call('POST', '/v2/subscribers', { body: { subscriberId: 'ada', email: 'ada@example.org' } })
  await triggered(workflows.both, 'ada', { overrides: { email: { to: ['hidden@example.org'] } } })
  await settle()
  const [node] = nodes
  const full = await kept(node)
  const first = await node.read('', { key: readKey })
  const second = await node.read('', { key: readKey })
  assert.deepEqual([first.way, second.way], ['full', 'kept'])
  assert.equal(second.text, first.text)
  assert.equal((await kept(node)).text, full.text)
})

test('sizes do not mix, and filtered or later pages are not kept', async () => {
  await settle()
  const [node] = nodes
  assert.equal((await kept(node, '?limit=3')).body.data.length, 3)
  assert.equal((await kept(node)).body.data.length, 10)
  assert.equal((await kept(node, '?limit=50')).body.pageSize, 50)
  for (const query of ['?page=1', '?subscriberIds=ada', '?channels=in_app', '?after=2020-01-01T00:00:00Z']) {
    await node.read(query)
    assert.notEqual((await node.read(query)).way, 'kept', query)
  }
})

test('what shows more than its own rows is not kept: who would send, and the events of a digest', async () => {
  const [node] = nodes
  for (const name of ['delayed', 'digested'] as const) {
    await settle()
    await triggered(workflows[name], 'cleo')
    await scene.work()
    for (let reads = 0; reads < 3; reads += 1) assert.notEqual((await node.read()).way, 'kept', name)
    await scene.advance(60_000)
  }
})

test('a page that changes between any two reads is not asked about each time', async () => {
  await settle()
  const [node] = nodes
  await kept(node)
  const ways: Way[] = []
  for (let count = 0; count < 4; count += 1) {
    await triggered(workflows.inApp, 'bob')
    await scene.work()
    ways.push((await node.read()).way)
  }
  assert.deepEqual(ways, ['stale', 'full', 'stale', 'full'])
})

type Change = (random: Random, call: TestApp['call']) => Promise<unknown>
const people = ['ada', 'bob', 'cleo']

const randomChanges: Record<string, Change> = {
  trigger: (random, call) =>
    call('POST', '/v1/events/trigger', {
      body: {
        name: random.oneOf(Object.values(workflows)),
        to: random.oneOf(people),
        payload: { n: random.integer(1_000) },
      },
    }),
  work: () => scene.work(),
  // The longer one ends digests, and everything that was kept.
  later: (random) => scene.advance(random.oneOf([1_000, 400_000]), 60_000),
  rename: (random, call) =>
    call('PATCH', `/v2/subscribers/${random.oneOf(people)}`, { body: { firstName: `name ${random.integer(5)}` } }),
  erase: async (random, call) => {
    const person = random.oneOf(people)
    await call('DELETE', `/v1/subscribers/${person}`)
    return call('POST', '/v2/subscribers', { body: { subscriberId: person, email: `${person}@example.org` } })
  },
  cancel: async (_random, call) => {
    const { data } = await directPage(5)
    return data.length === 0 ? undefined : call('DELETE', `/v1/events/trigger/${data[0].transactionId}`)
  },
  workflow: (random, call) =>
    call('PATCH', `/v2/workflows/${random.oneOf(workflowIds)}`, { body: { name: `named ${random.integer(100)}` } }),
}

test('whatever was changed, on this node or another, a read returns what is there', async () => {
  const seed = fuzzSeed()
  console.log(`seed ${seed}`)
  const random = createRandom(seed)
  const ways = { kept: 0, stale: 0, full: 0 }
  for (let round = 0; round < fuzzRounds(120); round += 1) {
    const node = random.oneOf(nodes)
    const limit = random.oneOf([2, 10])
    const text = `?limit=${limit}`
    if (random.chance(0.4)) {
      const name = random.oneOf(Object.keys(randomChanges))
      const change = () => randomChanges[name]?.(random, random.oneOf(nodes).app.call)
      // A read that overlaps with the change may return either; what it leaves behind must not be returned later.
      await (random.chance(0.5) ? Promise.all([change(), node.app.call('GET', `/v1/notifications${text}`)]) : change())
    }
    if (random.chance(0.1)) await settle()
    const reply = await node.read(text)
    ways[reply.way] += 1
    assert.deepEqual(reply.body, await directPage(limit), `seed ${seed}, round ${round}, ${text}`)
  }
  for (const [way, count] of Object.entries(ways)) assert.ok(count > 0, `${way}: never, seed ${seed}`)
})

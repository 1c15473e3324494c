// Random changes and reads of feeds on two nodes: each read is what a read past the kept pages returns.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { marks } from '../../src/domain/messages/message-marks.ts'
import type { Json, TestApp } from '../support/app.ts'
import type { FeedReader, PageQuery } from '../support/feed-page-scene.ts'
import { createFeedReader, directPage, queryText } from '../support/feed-page-scene.ts'
import { MessageScene } from '../support/message-scene.ts'
import type { Random } from '../support/random.ts'
import { createRandom, fuzzRounds, fuzzSeed } from '../support/random.ts'

let nodes: FeedReader[]
let app: TestApp
let scene: MessageScene
const people = ['ada', 'bob', 'cleo']
before(async () => {
  const first = await createFeedReader()
  app = first.app
  nodes = [first, await createFeedReader({ nodeOf: app })]
  scene = await MessageScene.of(app, people)
  for (const person of people) await scene.say(person)
})
after(async () => {
  for (const node of nodes.toReversed()) await node.app.close()
})

const rounds = fuzzRounds(250)
const queries = [
  {},
  {},
  { limit: 2 },
  { limit: 20 },
  { read: false },
  { seen: false, limit: 3 },
  { read: true, seen: true },
]

async function anyId(random: Random, person: string): Promise<string> {
  const { data } = await directPage(app, person, { limit: 5 })
  return data.length === 0 ? app.world.newId(app.world.now()) : random.oneOf(data as Json[])._id
}

type Change = (random: Random, call: TestApp['call'], person: string) => Promise<unknown>

const changes: Record<string, Change> = {
  say: (random, _call, person) =>
    scene.say(person, {
      draft: {
        content: `said ${random.integer(1000)}`,
        ...(random.chance(0.1) ? { actor: { type: 'user', data: null } } : {}),
      },
      event: { payload: { n: random.integer(1000) } },
    }),
  mark: async (random, call, person) =>
    call('POST', `/v1/subscribers/${person}/messages/mark-as`, {
      body: { messageId: await anyId(random, person), markAs: random.oneOf(marks) },
    }),
  markAll: (random, call, person) =>
    call('POST', `/v1/subscribers/${person}/messages/mark-all`, { body: { markAs: random.oneOf(marks) } }),
  remove: async (random, call, person) => call('DELETE', `/v1/messages/${await anyId(random, person)}`),
  snooze: async (random, call, person) => {
    const path = `/v2/subscribers/${person}/notifications/${await anyId(random, person)}`
    const snoozeUntil = new Date(app.world.now().getTime() + 20_000).toISOString()
    return call('PATCH', `${path}/snooze`, { body: { snoozeUntil } })
  },
  endSnoozes: () => app.pipeline.advance(10_000),
  press: async (random, call, person) =>
    call('POST', `/v1/subscribers/${person}/messages/${await anyId(random, person)}/actions/primary`, {
      body: { status: random.oneOf(['pending', 'done']) },
    }),
  rename: (random, call, person) =>
    call('PATCH', `/v2/subscribers/${person}`, { body: { firstName: `name ${random.integer(5)}` } }),
}

test('whatever was changed, on this node or another, a read returns what is there', async () => {
  const seed = fuzzSeed()
  console.log(`seed ${seed}`)
  const random = createRandom(seed)
  const ways = { kept: 0, stale: 0, full: 0 }
  for (let round = 0; round < rounds; round += 1) {
    const person = random.oneOf(people)
    const node = random.oneOf(nodes)
    const query: PageQuery = random.oneOf(queries)
    const text = queryText(query)
    const read = () => node.read(person, text)
    if (random.chance(0.4)) {
      const name = random.oneOf(Object.keys(changes))
      const change = () => changes[name]?.(random, random.oneOf(nodes).app.call, person)
      // A read that overlaps with the change may return either; what it leaves behind must not be returned later.
      const path = `/v1/subscribers/${person}/notifications/feed${text}`
      await (random.chance(0.5) ? Promise.all([change(), node.app.call('GET', path)]) : change())
    }
    const reply = await read()
    ways[reply.way] += 1
    const where = `seed ${seed}, round ${round}, ${person}${text}`
    assert.deepEqual(reply.body, await directPage(app, person, query), where)
  }
  for (const [way, count] of Object.entries(ways))
    assert.ok(count > 0, `${way}: never in ${rounds} rounds, seed ${seed}`)
})

// Following the activity: what is said of news, to whom, and until when.
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { untilGone } from '../../src/http/install-route.ts'
import { createActivityNews, followersMax } from '../../src/read/activity/activity-news.ts'
import { listEnvironments } from '../../src/store/operate/installation.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { delay, inApp } from '../support/workflow-scene.ts'

interface News {
  readonly created: number
  readonly changed: number
  readonly newest: string | null
}

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

async function following(name: 'Development' | 'Production', after?: string) {
  const environment = (await listEnvironments(app.database.db)).find((one) => one.name === name)
  assert.ok(environment)
  const gone = new AbortController()
  const news = createActivityNews(app.database.db, app.world, { environment, after, signal: gone.signal })[
    Symbol.asyncIterator
  ]()
  const next = async (): Promise<News | string | undefined> => {
    const { value } = await news.next()
    const data = /^event: activity\ndata: (.*)\n\n$/.exec(value ?? '')?.[1]
    return data === undefined ? value : JSON.parse(data)
  }
  return { next, gone }
}

test('a follower is greeted at once, hears of what is new in its environment, and of silence now and then', async () => {
  const development = await following('Development')
  const production = await following('Production')
  assert.deepEqual(await development.next(), { created: 0, changed: 0, newest: null })
  assert.deepEqual(await production.next(), { created: 0, changed: 0, newest: null })
  const scene = new FlowScene(app)
  const { triggers } = await scene.created([inApp()])
  app.world.advance(10)
  for (const to of ['one', 'two'])
    await scene.expect(201, 'POST', '/v1/events/trigger', { name: triggers[0].identifier, to })
  const news = (await development.next()) as News
  assert.equal(news.created, 2)
  assert.match(String(news.newest), /^[0-9a-f-]{36}$/)
  assert.equal(await production.next(), ': nothing new\n\n')
  development.gone.abort()
  production.gone.abort()
  assert.equal(await development.next(), undefined)
})

test('a step whose change commits after it was looked for is reported, and only once', async () => {
  const scene = new FlowScene(app)
  const { triggers } = await scene.created([delay(), inApp()])
  const { body } = await scene.single({ name: triggers[0].identifier, to: 'late' })
  await scene.work()
  const { next, gone } = await following('Development')
  assert.equal(((await next()) as News).changed, 0)
  app.world.advance(10)
  const change = app.database.another()
  await change.transaction(async (tx) => {
    await tx.run(sql`
      update jobs set updated_at = ${app.world.now()}
      where event_id = (select id from events where transaction_id = ${body.transactionId})`)
    // Fifteen looks see nothing of it.
    assert.equal(await next(), ': nothing new\n\n')
  })
  assert.equal(((await next()) as News).changed, 1)
  assert.equal(await next(), ': nothing new\n\n')
  gone.abort()
})

test('a stream ends after a minute, and the next one goes on where it ended', async () => {
  const first = await following('Development')
  const { newest } = (await first.next()) as News
  for (let said: unknown = newest; said !== undefined; ) said = await first.next()
  const scene = new FlowScene(app)
  const { triggers } = await scene.created([inApp()])
  await scene.expect(201, 'POST', '/v1/events/trigger', { name: triggers[0].identifier, to: 'three' })
  const second = await following('Development', newest ?? undefined)
  await second.next()
  assert.equal(((await second.next()) as News).created, 1)
  second.gone.abort()
})

test('no more follow than a node can bear, and who leaves makes room', async () => {
  const all = []
  for (let count = 0; count < followersMax; count += 1) all.push(await following('Development'))
  await assert.rejects(following('Development'), /Too many clients follow/)
  const other = await following('Production')
  assert.deepEqual(Object.keys((await other.next()) as News), ['created', 'changed', 'newest'])
  other.gone.abort()
  all[0]?.gone.abort()
  all.push(await following('Development'))
  for (const { gone } of all) gone.abort()
})

test('a client that is gone before its stream opens takes no place', async () => {
  const [environment] = await listEnvironments(app.database.db)
  assert.ok(environment)
  const signal = AbortSignal.abort()
  for (let count = 0; count <= followersMax; count += 1) {
    createActivityNews(app.database.db, app.world, { environment, after: undefined, signal })
  }
  const { next, gone } = await following('Development')
  assert.ok(await next())
  gone.abort()
})

test('a client that is gone before its call is handled is noticed', () => {
  const raw = Object.assign(new EventEmitter(), { destroyed: true })
  assert.equal(untilGone({ raw } as never, new AbortController().signal).aborted, true)
  raw.destroyed = false
  const signal = untilGone({ raw } as never, new AbortController().signal)
  assert.equal(signal.aborted, false)
  raw.emit('close')
  assert.equal(signal.aborted, true)
})

test('it needs a key that may read, and answers as a stream of events', async () => {
  assert.equal((await app.call('GET', '/v1/activity/stream', { key: null })).status, 401)
  const whole = await app.call('GET', '/v1/activity/stream')
  assert.equal(whole.status, 200)
  assert.match(String(whole.headers['content-type']), /^text\/event-stream/)
  assert.match(whole.text, /^event: activity\ndata: \{"created":0/)
})

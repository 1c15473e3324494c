// The suppression list over the API: listing, adding one or many, removing; and what is refused.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { suppress } from '../../src/store/people/suppressions.ts'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { refusals } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const path = '/v1/suppressions'
const add = (body: object): Promise<TestReply> => app.call('POST', path, { body })
const list = async (query: Record<string, string> = {}, key?: string): Promise<Json> => {
  const reply = await app.call('GET', `${path}?${new URLSearchParams(query)}`, key === undefined ? {} : { key })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}
const addresses = async (query: Record<string, string>): Promise<string[]> =>
  (await list(query)).data.map((one: Json) => one.address)

test('an address is listed in the form it is compared in, and once', async () => {
  const created = await add({ channel: 'email', address: ' Ann@Example.COM ', reason: 'bounced', note: 'Gone' })
  assert.equal(created.status, 201, created.text)
  assert.deepEqual(created.body, {
    channel: 'email',
    address: 'ann@example.com',
    reason: 'bounced',
    source: 'caller',
    note: 'Gone',
    createdAt: app.world.now().toISOString(),
  })
  app.world.advance(1_000)
  const again = await add({ channel: 'email', address: 'ANN@example.com' })
  assert.equal(again.status, 200)
  assert.deepEqual([again.body.reason, again.body.note], ['manual', undefined])
  assert.equal(again.body.createdAt, created.body.createdAt)
  assert.equal((await list({ address: 'ann@EXAMPLE.com' })).totalCount, 1)
  const sms = await add({ channel: 'sms', address: '+49 (30) 12-34.56/7', reason: 'opted_out' })
  assert.deepEqual([sms.status, sms.body.address], [201, '+49301234567'])
})

test('what can be no address of its channel is refused, and so are unknown channels and reasons', async () => {
  for (const [body, field] of [
    [{ channel: 'email', address: 'nobody' }, 'address'],
    [{ channel: 'email', address: '+4930123456' }, 'address'],
    [{ channel: 'sms', address: 'ann@example.com' }, 'address'],
    [{ channel: 'sms', address: '12' }, 'address'],
    [{ channel: 'sms', address: '---' }, 'address'],
    [{ channel: 'sms', address: '1'.repeat(21) }, 'address'],
    [{ channel: 'email' }, 'address'],
    [{ channel: 'in_app', address: 'ann@example.com' }, 'channel'],
    [{ channel: 'email', address: 'a@example.com', reason: 'because' }, 'reason'],
    [{ channel: 'email', address: 'a@example.com', note: 'x'.repeat(501) }, 'note'],
  ] as const) {
    assert.deepEqual(Object.keys(refusals(await add(body))), [field], JSON.stringify(body))
  }
})

test('many are added in one call, all or none', async () => {
  const bulk = (suppressions: readonly object[]): Promise<TestReply> =>
    app.call('POST', `${path}/bulk`, { body: { suppressions } })
  const some = [
    { channel: 'email', address: 'bulk-1@example.com' },
    { channel: 'email', address: 'BULK-1@example.com', reason: 'complained' },
    { channel: 'email', address: 'bulk-2@example.com' },
  ]
  assert.deepEqual((await bulk(some)).body, { added: 2, updated: 0 })
  assert.equal((await list({ address: 'bulk-1@example.com' })).data[0].reason, 'complained')
  assert.deepEqual((await bulk([...some, { channel: 'sms', address: '+1 555 0100' }])).body, { added: 1, updated: 2 })
  const wrong = await bulk([
    { channel: 'email', address: 'bulk-3@example.com' },
    { channel: 'email', address: 'x' },
  ])
  assert.deepEqual(refusals(wrong), {
    'suppressions.1.address': 'suppressions.1.address must be an e-mail address such as ann@example.com',
  })
  assert.deepEqual(await addresses({ address: 'bulk-3@example.com' }), [])
  const one = (index: number) => ({ channel: 'sms', address: `+1555${10_000 + index}` })
  assert.equal((await bulk(Array.from({ length: 501 }, (_, index) => one(index)))).status, 422)
  assert.equal((await bulk([])).status, 422)
  assert.deepEqual((await bulk(Array.from({ length: 500 }, (_, index) => one(index)))).body, { added: 500, updated: 0 })
})

test('the list is found by channel, reason, whole address and beginning', async () => {
  for (const body of [
    { channel: 'email', address: 'find.one@example.net', reason: 'bounced' },
    { channel: 'email', address: 'findone@example.net', reason: 'complained' },
    { channel: 'sms', address: '+44 20 7946 0000', reason: 'bounced' },
  ]) {
    app.world.advance(1_000)
    assert.equal((await add(body)).status, 201)
  }
  assert.deepEqual(await addresses({ addressPrefix: 'Find.' }), ['find.one@example.net'])
  assert.deepEqual(await addresses({ addressPrefix: 'find' }), ['findone@example.net', 'find.one@example.net'])
  assert.deepEqual(await addresses({ addressPrefix: 'find', reason: 'bounced' }), ['find.one@example.net'])
  assert.deepEqual(await addresses({ addressPrefix: '+44 20' }), ['+442079460000'])
  assert.deepEqual(await addresses({ address: '+44-20-7946-0000' }), ['+442079460000'])
  assert.deepEqual(await addresses({ address: '+44-20-7946-0000', channel: 'email' }), [])
  assert.deepEqual(await addresses({ addressPrefix: '---', channel: 'sms' }), [])
  assert.deepEqual(await addresses({ address: 'find.one' }), [])
  assert.equal((await app.call('GET', `${path}?addressPrefix=fi`)).status, 422)
  assert.equal((await app.call('GET', `${path}?channel=push`)).status, 422)
})

test('pages follow each other in both directions and hold everything once', async () => {
  // Some of the same time: then the address decides.
  for (let index = 0; index < 7; index += 1) {
    if (index % 3 === 0) app.world.advance(1_000)
    await add({ channel: 'email', address: `page-${index}@example.org` })
  }
  for (const orderDirection of ['DESC', 'ASC']) {
    const query = { addressPrefix: 'page-', orderDirection }
    const all = (await list({ ...query, limit: '100' })).data
    assert.equal(all.length, 7)
    const forwards: Json[] = []
    let page = await list({ ...query, limit: '3' })
    assert.deepEqual([page.previous, page.totalCount], [null, 7])
    for (;;) {
      forwards.push(...page.data)
      if (page.next === null) break
      page = await list({ ...query, limit: '3', after: page.next })
      assert.notEqual(page.previous, null)
    }
    assert.deepEqual(forwards, all)
    const backwards: Json[] = [...page.data]
    while (page.previous !== null) {
      page = await list({ ...query, limit: '3', before: page.previous })
      backwards.unshift(...page.data)
    }
    assert.deepEqual(backwards, all)
  }
})

test('a cursor that is none is refused, and so are two at once', async () => {
  const written = (parts: unknown): string => Buffer.from(JSON.stringify(parts)).toString('base64url')
  const at = app.world.now().toISOString()
  for (const cursor of [
    'x',
    written({}),
    written(['yesterday', 'email', 'a']),
    written(['0000-01-01T00:00:00.000Z', 'email', 'a']),
    written(['2026-02-30T00:00:00.000Z', 'email', 'a']),
    written([at, 1, 'a']),
    written([at, 'email', 'a\u0000']),
    written([at, 'email']),
  ]) {
    assert.equal((await app.call('GET', `${path}?after=${cursor}`)).status, 400, cursor)
  }
  const good = written([at, 'email', 'a'])
  assert.equal((await app.call('GET', `${path}?after=${good}`)).status, 200)
  assert.equal((await app.call('GET', `${path}?after=${good}&before=${good}`)).status, 400)
})

test('an address is taken off the list however it is written, and then is not there', async () => {
  await add({ channel: 'email', address: 'off@example.com' })
  await add({ channel: 'sms', address: '+49 30 99' })
  const remove = (address: string): Promise<TestReply> =>
    app.call('DELETE', `${path}/${address.includes('@') ? 'email' : 'sms'}/${encodeURIComponent(address)}`)
  for (const address of ['OFF@example.com', '+49 (30) 99']) {
    assert.equal((await remove(address)).status, 204, address)
    assert.equal((await remove(address)).status, 404, address)
  }
  assert.equal((await app.call('DELETE', `${path}/push/abc`)).status, 422)
})

test('another environment has a list of its own', async () => {
  await add({ channel: 'email', address: 'mine@example.com' })
  assert.equal((await list({ address: 'mine@example.com' }, app.productionKey)).totalCount, 0)
  const gone = await app.call('DELETE', `${path}/email/mine@example.com`, { key: app.productionKey })
  assert.equal(gone.status, 404)
  assert.equal((await list({ address: 'mine@example.com' })).totalCount, 1)
})

test('what a provider says changes no reason but an opt-out, which lets more through than others', async () => {
  const environment = await environmentOf(app)
  const heard = async (reason: 'bounced' | 'opted_out', address: string): Promise<string> => {
    const entry = { channel: 'email', address, reason, source: 'provider' } as const
    await app.database.db.transaction((tx) => suppress(tx, environment, [entry, entry], app.world.now()))
    return (await list({ address })).data[0].reason
  }
  assert.equal(await heard('opted_out', 'heard@example.com'), 'opted_out')
  assert.equal(await heard('bounced', 'heard@example.com'), 'bounced')
  assert.equal(await heard('opted_out', 'heard@example.com'), 'bounced')
  await add({ channel: 'email', address: 'told@example.com', reason: 'complained' })
  assert.equal(await heard('bounced', 'told@example.com'), 'complained')
})

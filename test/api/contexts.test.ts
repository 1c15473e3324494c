// Contexts over the API: as data for templates, and as the public client reads them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Novu } from '@novu/api'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { inApp, refusals } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const make = (type: string, id: string, data?: object, key?: string) =>
  app.call('POST', '/v2/contexts', { body: { type, id, ...(data && { data }) }, ...(key && { key }) })
const keys = (page: Json): string[] => page.data.map((one: Json) => `${one.type}:${one.id}`)

test('a context is created once, read, changed as a whole and deleted', async () => {
  const made = await make('workspace', 'acme', { plan: 'team', seats: 3 })
  assert.equal(made.status, 201, made.text)
  assert.deepEqual(Object.keys(made.body).sort(), ['createdAt', 'data', 'id', 'type', 'updatedAt'])
  assert.equal((await make('workspace', 'acme')).status, 409)
  assert.deepEqual((await app.call('GET', '/v2/contexts/workspace/acme')).body, made.body)
  app.world.advance(1_000)
  const changed = await app.call('PATCH', '/v2/contexts/workspace/acme', { body: { data: { plan: 'big' } } })
  assert.deepEqual([changed.status, changed.body.data], [200, { plan: 'big' }])
  assert.notEqual(changed.body.updatedAt, made.body.updatedAt)
  assert.equal((await app.call('DELETE', '/v2/contexts/workspace/acme')).status, 204)
  assert.equal((await app.call('GET', '/v2/contexts/workspace/acme')).status, 404)
  assert.equal((await app.call('DELETE', '/v2/contexts/workspace/acme')).status, 404)
  assert.equal((await app.call('PATCH', '/v2/contexts/workspace/acme', { body: { data: {} } })).status, 404)
})

test('what is no context is refused by its field', async () => {
  assert.ok('type' in refusals(await make('a b', 'x')))
  assert.ok('id' in refusals(await make('a', 'x:y')))
  assert.ok('id' in refusals(await make('a', '')))
  assert.ok('data' in refusals(await app.call('POST', '/v2/contexts', { body: { type: 'a', id: 'b', data: [] } })))
  assert.match(refusals(await make('a', 'b', { x: 'y'.repeat(70_000) }))['data'] ?? '', /larger than 65536 bytes/)
  const change = await app.call('PATCH', '/v2/contexts/a/b', { body: {} })
  assert.ok('data' in refusals(change))
})

test('the list goes by type and id, and pages both ways', async () => {
  const all = ['app:a', 'app:b', 'team:a', 'team:b', 'team:c']
  for (const key of ['team:b', 'app:b', 'team:c', 'app:a', 'team:a']) {
    const [type = '', id = ''] = key.split(':')
    await make(type, id)
  }
  const list = async (query: string): Promise<Json> => (await app.call('GET', `/v2/contexts?${query}`)).body
  assert.deepEqual(keys(await list('')), all)
  assert.deepEqual(keys(await list('orderDirection=DESC')), all.toReversed())
  const first = await list('limit=2')
  assert.deepEqual([keys(first), first.previous, first.totalCount], [all.slice(0, 2), null, 5])
  const second = await list(`limit=2&after=${first.next}`)
  assert.deepEqual(keys(second), all.slice(2, 4))
  const back = await list(`limit=2&before=${second.previous}`)
  assert.deepEqual(keys(back), all.slice(0, 2))
  assert.deepEqual(keys(await list('id=a')), ['app:a', 'team:a'])
  assert.deepEqual(keys(await list('type=team&id=a')), ['team:a'])
  assert.deepEqual(keys(await list('search=eam:b')), ['team:b'])
  assert.deepEqual(keys(await list('search=te')), ['team:a', 'team:b', 'team:c'])
  assert.deepEqual(keys(await list('search=absent')), [])
  assert.equal((await app.call('GET', '/v2/contexts?after=x')).status, 400)
  assert.equal((await app.call('GET', `/v2/contexts?after=${first.next}&before=${first.next}`)).status, 400)
  assert.equal((await app.call('GET', '/v2/contexts?orderBy=name')).status, 422)
})

test('another environment sees and touches nothing', async () => {
  const key = app.productionKey
  await make('mine', 'one')
  assert.equal((await app.call('GET', '/v2/contexts/mine/one', { key })).status, 404)
  assert.equal((await app.call('PATCH', '/v2/contexts/mine/one', { key, body: { data: { x: 1 } } })).status, 404)
  assert.equal((await app.call('DELETE', '/v2/contexts/mine/one', { key })).status, 404)
  assert.deepEqual((await app.call('GET', '/v2/contexts', { key })).body.data, [])
  assert.equal((await make('mine', 'one', undefined, key)).status, 201)
  assert.deepEqual((await app.call('GET', '/v2/contexts/mine/one')).body.data, {})
})

test('templates see the data of a context that a trigger names', async () => {
  await make('region', 'north', { greeting: 'Moin' })
  const workflow = await scene.workflow([inApp('{{ context.region.data.greeting }} from {{ context.region.id }}')])
  await scene.run(workflow, 'ctx-reader', { context: { region: 'north' } })
  assert.deepEqual(await scene.texts('ctx-reader'), ['Moin from north'])
  await app.call('PATCH', '/v2/contexts/region/north', { body: { data: { greeting: 'Hej' } } })
  await scene.run(workflow, 'ctx-reader', { context: { region: 'north' } })
  assert.equal((await scene.texts('ctx-reader'))[0], 'Hej from north')
})

test('the public client creates, lists, reads, updates and deletes contexts', async () => {
  const other = await createTestApp({ vendor: 'novu' })
  const serverURL = await other.app.listen({ port: 0, host: '127.0.0.1' })
  const novu = new Novu({ secretKey: other.developmentKey, serverURL, retryConfig: { strategy: 'none' } })
  try {
    const made = (await novu.contexts.create({ type: 'tenant', id: 'acme', data: { plan: 'a' } })).result
    assert.deepEqual([made.type, made.id, made.data], ['tenant', 'acme', { plan: 'a' }])
    assert.equal(
      (await novu.contexts.update({ id: 'acme', type: 'tenant', updateContextRequestDto: { data: {} } })).result.id,
      'acme',
    )
    assert.deepEqual((await novu.contexts.retrieve('acme', 'tenant')).result.data, {})
    assert.equal((await novu.contexts.list({ search: 'acme', limit: 5 })).result.totalCount, 1)
    await novu.contexts.delete('acme', 'tenant')
    assert.equal((await novu.contexts.list({})).result.totalCount, 0)
    await assert.rejects(novu.contexts.retrieve('acme', 'tenant'), { statusCode: 404 })
  } finally {
    await other.close()
  }
})

// Variables of an environment: their calls, what templates print of them, and that a secret one is never shown.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { inApp, refusals } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let _environmentId: string
const asked: { url: string; headers: Headers; text: string }[] = []
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  _environmentId = (await environmentOf(app)).id
  app.world.onFetch = async (request) => {
    asked.push({ url: request.url, headers: request.headers, text: await request.text() })
    return { status: 200, headers: new Headers(), body: '{}' }
  }
})
after(() => app.close())

const path = '/v1/environment-variables'
const create = (key: string, value: string, more: object = {}) =>
  app.call('POST', path, { body: { key, values: [{ _environmentId, value }], ...more } })
const change = (key: string, body: object) => app.call('PATCH', `${path}/${key}`, { body })
const shownValue = (body: Json): string => body.values[0].value

test('a variable is created, listed, changed, renamed and deleted; its key is taken once', async () => {
  const made = await create('REGION', 'eu')
  assert.equal(made.status, 200, made.text)
  assert.deepEqual(made.body.values, [{ _environmentId, value: 'eu' }])
  assert.deepEqual([made.body.type, made.body.isSecret, made.body.key], ['string', false, 'REGION'])
  assert.equal((await create('REGION', 'us')).status, 409)
  assert.deepEqual((await app.call('GET', `${path}/REGION`)).body, made.body)
  assert.deepEqual((await app.call('GET', `${path}?search=regi`)).body, [made.body])
  assert.deepEqual((await app.call('GET', `${path}?search=x`)).body, [])
  const renamed = await change('REGION', { key: 'ZONE', values: [{ _environmentId, value: 'us' }] })
  assert.deepEqual([renamed.body.key, shownValue(renamed.body)], ['ZONE', 'us'])
  assert.equal((await change('ZONE', {})).body.values[0].value, 'us')
  assert.equal((await app.call('GET', `${path}/REGION`)).status, 404)
  assert.equal((await app.call('DELETE', `${path}/ZONE`)).status, 204)
  assert.equal((await app.call('DELETE', `${path}/ZONE`)).status, 404)
  assert.equal((await change('ZONE', {})).status, 404)
})

test('templates and layouts print the value of their environment, and a change applies to the next run', async () => {
  await create('SHOP_URL', 'https://shop.example')
  const workflow = await scene.workflow([inApp('{{ env.SHOP_URL }}/{{ env.region }}|{{ env.MISSING }}')])
  const said = async () => {
    const { transactionId } = await scene.run(workflow, fresh('person'), { payload: { env: { region: 'eu' } } })
    return (await scene.message(transactionId)).content
  }
  assert.equal(await said(), 'https://shop.example/eu|')
  await change('SHOP_URL', { values: [{ _environmentId, value: 'https://other.example' }] })
  assert.equal(await said(), 'https://other.example/eu|')
  const usage = await app.call('GET', `${path}/SHOP_URL/usage`)
  assert.deepEqual(
    usage.body.workflows.map((one: Json) => one.workflowId),
    [workflow],
  )
  await create('SHOP', 'x')
  assert.deepEqual((await app.call('GET', `${path}/SHOP/usage`)).body.workflows, [])
})

test('a secret is printed in the headers of a custom step alone, and shown nowhere', async () => {
  const secret = 'hush-7d1f'
  const made = await create('TOKEN', secret, { isSecret: true })
  assert.equal(shownValue(made.body), '[hidden]')
  const metadata = {
    type: 'http',
    url: 'https://api.example.com/{{ env.TOKEN }}x',
    headers: { authorization: 'Bearer {{ env.TOKEN }}' },
    body: { token: '{{ env.TOKEN }}' },
  }
  const workflow = await scene.workflow([
    { template: { type: 'custom' }, metadata, uuid: 'call' },
    inApp('[{{ env.TOKEN }}]'),
  ])
  const { transactionId } = await scene.run(workflow, fresh('person'))
  const call = asked.at(-1)
  assert.equal(call?.headers.get('authorization'), `Bearer ${secret}`)
  assert.equal(call?.url, 'https://api.example.com/x')
  assert.equal(call?.text.includes(secret), false)
  assert.equal((await scene.message(transactionId)).content, '[]')
  const preview = await app.call('POST', `/v2/workflows/${workflow}/step/call/preview`, { body: {} })
  assert.equal(preview.status, 201, preview.text)
  assert.equal(preview.body.result.preview.headers.authorization, 'Bearer [hidden]')
  const shownIn = ['/v1/audit?limit=100', path, `${path}/TOKEN`, `/v1/notifications?transactionId=${transactionId}`]
  for (const one of shownIn) assert.equal((await app.call('GET', one)).text.includes(secret), false, one)
  const rows = await app.database.db.rows<{ text: string }>(sql`
    select encode(sealed, 'escape') as text from environment_variables`)
  assert.equal(
    rows.some(({ text }) => text.includes(secret)),
    false,
  )
})

test('a secret that is saved as it was shown stays, and is opened only by a new value', async () => {
  await create('KEPT', 'as-it-was', { isSecret: true })
  await change('KEPT', { values: [{ _environmentId, value: '[hidden]' }], key: 'KEPT_ON' })
  assert.ok('isSecret' in refusals(await change('KEPT_ON', { isSecret: false })))
  assert.ok(
    'isSecret' in
      refusals(await change('KEPT_ON', { isSecret: false, values: [{ _environmentId, value: '[hidden]' }] })),
  )
  const opened = await change('KEPT_ON', { isSecret: false, values: [{ _environmentId, value: 'new' }] })
  assert.equal(shownValue(opened.body), 'new')
  assert.equal(shownValue((await change('KEPT_ON', { isSecret: true })).body), '[hidden]')
  assert.ok('values' in refusals(await create('NOTHING', '[hidden]', { isSecret: true })))
})

test('bad input, other environments and too many are refused', async () => {
  const theirs = (await environmentOf(app, 'Production')).id
  assert.ok('values' in refusals(await create('OTHER', 'x', { values: [{ _environmentId: theirs, value: 'x' }] })))
  for (const key of ['', '1A', 'A-B', 'A.B', 'x'.repeat(101)]) assert.ok('key' in refusals(await create(key, 'x')), key)
  assert.equal((await create('LONG', 'x'.repeat(5_001))).status, 422)
  assert.equal((await create('TYPED', 'x', { type: 'number' })).status, 422)
  const key = app.productionKey
  assert.equal((await app.call('GET', `${path}/SHOP_URL`, { key })).status, 404)
  assert.deepEqual((await app.call('GET', path, { key })).body, [])
  const there = (await app.call('GET', path)).body.length
  for (let count = there; count < 100; count += 1) assert.equal((await create(`V${count}`, '')).status, 200)
  assert.equal((await create('ONE_MORE', '')).status, 409)
})

// Texts that a workflow or a layout has of its own: /v2/translations, and what its templates show.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { create, inApp, refusals } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
  for (const workflowId of ['orders', 'bills']) {
    await create(app, { name: `All ${workflowId}`, workflowId, steps: [inApp('{{ "title" | t: n: 7 }}')] })
  }
})
after(() => app.close())

const put = (locale: string, content: unknown, more: object = {}) =>
  app.call('POST', '/v2/translations', {
    body: { resourceType: 'workflow', resourceId: 'orders', locale, content, ...more },
  })
const path = '/v2/translations/workflow/orders'
const texts = async (locale: string): Promise<Json> => (await app.call('GET', `/v1/translations/${locale}`)).body?.texts

async function shown(workflowId: string, locale: string): Promise<string> {
  const { body } = await app.call('GET', `/v2/workflows/${workflowId}`)
  const preview = await app.call('POST', `/v2/workflows/${workflowId}/step/${body.steps[0]._id}/preview`, {
    body: { previewPayload: { subscriber: { locale } } },
  })
  assert.equal(preview.status, 201, preview.text)
  return preview.body.result.preview.body
}

test('a workflow’s own texts come before those of all, in its templates only', async () => {
  await app.call('PUT', '/v1/translations/en', { body: { texts: { title: 'For all' } } })
  const made = await put('de_DE', { title: 'Bestellung {n}' })
  assert.equal(made.status, 200, made.text)
  assert.deepEqual(
    [made.body.resourceId, made.body.resourceType, made.body.locale, made.body.content],
    ['orders', 'workflow', 'de-DE', { title: 'Bestellung {n}' }],
  )
  assert.equal(await shown('orders', 'de-DE'), 'Bestellung 7')
  assert.equal(await shown('orders', 'fr'), 'For all')
  assert.equal(await shown('bills', 'de-DE'), 'For all')
})

test('they are read, listed and deleted by workflow, and are a part of the locale’s texts', async () => {
  await put('en', { title: 'Order' })
  assert.deepEqual(await texts('en'), { title: 'For all', workflows: { orders: { title: 'Order' } } })
  assert.deepEqual((await app.call('GET', `${path}/en`)).body.content, { title: 'Order' })
  const group = await app.call('GET', '/v2/translations/group/workflow/orders')
  assert.deepEqual([group.body.resourceName, group.body.locales], ['All orders', ['de-DE', 'en']])
  assert.equal((await app.call('DELETE', `${path}/en`)).status, 204)
  assert.equal((await app.call('DELETE', `${path}/en`)).status, 404)
  assert.deepEqual(await texts('en'), { title: 'For all' })
  assert.equal((await app.call('DELETE', path)).status, 204)
  for (const gone of [`${path}/de-DE`, '/v2/translations/group/workflow/orders', '/v1/translations/de-DE']) {
    assert.equal((await app.call('GET', gone)).status, 404, gone)
  }
})

test('those of several are exported and imported together; unknown ones are reported', async () => {
  await put('en', { a: 'x' })
  const masterJson = {
    workflows: { bills: { title: 'Bill' }, unknown: { title: '?' }, orders: { title: 'Order' } },
    layouts: { none: {} },
  }
  const body = { locale: 'en', masterJson }
  const imported = await app.call('POST', '/v2/translations/master-json', { body })
  assert.equal(imported.status, 200, imported.text)
  assert.deepEqual(
    [imported.body.success, imported.body.successful, imported.body.failed],
    [false, ['bills', 'orders'], ['unknown', 'none']],
  )
  const master = { workflows: { bills: { title: 'Bill' }, orders: { title: 'Order' } }, layouts: {} }
  assert.deepEqual((await app.call('GET', '/v2/translations/master-json')).body, master)
  const none = await app.call('GET', '/v2/translations/master-json?locale=pt')
  assert.deepEqual(none.body, { workflows: {}, layouts: {} })
})

test('what is wrong is refused by its key, and nothing is kept', async () => {
  const before = await texts('en')
  assert.match(refusals(await put('en', { a: '{{ y | nope }}' }))['content.a'] ?? '', /nope/)
  assert.ok('content.b' in refusals(await put('en', { b: 5 })))
  assert.ok('locale' in refusals(await put('12', { b: 'x' })))
  assert.equal((await put('en', { a: 'b' }, { resourceId: 'unknown' })).status, 404)
  assert.equal((await put('en', { a: 'b' }, { resourceType: 'layout' })).status, 404)
  assert.equal((await put('en', { a: 'b' }, { resourceType: 'step' })).status, 422)
  assert.deepEqual(await texts('en'), before)
  await app.call('PUT', '/v1/translations/it', { body: { texts: { workflows: 'Processi' } } })
  assert.equal((await put('it', { a: 'b' })).status, 409)
  const many = Object.fromEntries(Array.from({ length: 4_990 }, (_, index) => [`k${index}`, 'x']))
  await app.call('PUT', '/v1/translations/es', { body: { texts: many } })
  const own = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, 'x']))
  assert.match(refusals(await put('es', own))['content'] ?? '', /5010 texts; at most 5000/)
})

// Layouts over the API: v1 and v2, the one default, what cannot be rendered, and what is in use.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Novu } from '@novu/api'
import { sql } from '../../src/db/sql.ts'
import { layoutsMax } from '../../src/domain/workflows/layout.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { create, email, refusals } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const content = '<div>{{{body}}}</div>'

async function layout(identifier: string, more: object = {}): Promise<Json> {
  const reply = await app.call('POST', '/v1/layouts', { body: { name: identifier, identifier, content, ...more } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body
}

async function defaults(): Promise<string[]> {
  const { body } = await app.call('GET', '/v1/layouts?limit=100')
  return body.data.flatMap((one: Json) => (one.isDefault ? [one.identifier] : []))
}

test('a layout is created, read by id and by identifier, changed and deleted', async () => {
  const made = await layout('first', { description: 'Ours' })
  assert.equal(made.isDefault, false)
  assert.deepEqual((await app.call('GET', `/v1/layouts/${made._id}`)).body, made)
  assert.deepEqual((await app.call('GET', '/v1/layouts/first')).body, made)
  const changed = await app.call('PATCH', '/v1/layouts/first', { body: { content: '<b>{{ body }}</b>', name: 'New' } })
  assert.equal(changed.status, 200, changed.text)
  assert.deepEqual(
    [changed.body.content, changed.body.name, changed.body.description],
    ['<b>{{ body }}</b>', 'New', 'Ours'],
  )
  // The clock stood still: what is kept of a layout goes by the time of its change.
  assert.notEqual(changed.body.updatedAt, made.updatedAt)
  assert.equal((await app.call('DELETE', '/v1/layouts/first')).status, 204)
  for (const method of ['GET', 'DELETE', 'PATCH']) {
    const reply = await app.call(method, '/v1/layouts/first', method === 'PATCH' ? { body: { name: 'x' } } : {})
    assert.equal(reply.status, 404, method)
  }
  await layout('first')
})

test('an identifier is a slug of the name unless given, and taken once', async () => {
  const reply = await app.call('POST', '/v1/layouts', { body: { name: 'Winter Sale!', content } })
  assert.equal(reply.body.identifier, 'winter-sale')
  assert.equal((await app.call('POST', '/v1/layouts', { body: { name: 'Winter sale', content } })).status, 409)
  await layout('other')
  const renamed = await app.call('PATCH', '/v1/layouts/other', { body: { identifier: 'winter-sale' } })
  assert.equal(renamed.status, 409)
})

test('what cannot be a layout is refused with its line', async () => {
  const refusal = async (body: object) =>
    refusals(await app.call('POST', '/v1/layouts', { body: { name: 'bad', identifier: 'bad', ...body } }))
  assert.match((await refusal({ content: '<p>nothing</p>' }))['content'] ?? '', /no place for the body/)
  assert.match((await refusal({ content: '{{body}}{{{ body }}}' }))['content'] ?? '', /2 places/)
  assert.match((await refusal({ content: '\n<p>{% if x %}{{{body}}}</p>' }))['content'] ?? '', /line 2, column 4/)
  assert.match((await refusal({ content: '{% comment %}{{body}}{% endcomment %}' }))['content'] ?? '', /no place/)
  assert.match((await refusal({ content: '{{body}}{{ x | nope }}' }))['content'] ?? '', /unknown filter "nope"/)
  assert.match((await refusal({ content, identifier: 'none' }))['identifier'] ?? '', /means no layout/)
  assert.ok('identifier' in (await refusal({ content, identifier: 'a b' })))
  assert.ok('content' in (await refusal({})))
  assert.ok('content' in (await refusal({ content: `{{body}}${'x'.repeat(100_000)}` })))
  await layout('good')
  const change = await app.call('PATCH', '/v1/layouts/good', { body: { content: 'no slot' } })
  assert.match(refusals(change)['content'] ?? '', /no place/)
})

test('one layout is the default, and moving it takes it from the other', async () => {
  await layout('d1', { isDefault: true })
  assert.deepEqual(await defaults(), ['d1'])
  await layout('d2', { isDefault: true })
  assert.deepEqual(await defaults(), ['d2'])
  const moved = await app.call('POST', '/v1/layouts/d1/default')
  assert.deepEqual([moved.status, moved.body.isDefault], [200, true])
  assert.deepEqual(await defaults(), ['d1'])
  assert.equal((await app.call('POST', '/v1/layouts/absent/default')).status, 404)
  assert.deepEqual(await defaults(), ['d1'])
  const refused = await app.call('DELETE', '/v1/layouts/d1')
  assert.equal(refused.status, 409)
  assert.match(refused.body.message, /is the default/)
  assert.equal((await app.call('PATCH', '/v1/layouts/d1', { body: { isDefault: false } })).body.isDefault, false)
  assert.deepEqual(await defaults(), [])
  assert.equal((await app.call('DELETE', '/v1/layouts/d1')).status, 204)
})

test('concurrent moves of the default leave exactly one', async () => {
  for (const name of ['r1', 'r2', 'r3']) await layout(name)
  const replies = await Promise.all(['r1', 'r2', 'r3'].map((name) => app.call('POST', `/v1/layouts/${name}/default`)))
  assert.deepEqual(
    replies.map((reply) => reply.status),
    [200, 200, 200],
  )
  assert.equal((await defaults()).length, 1)
})

/** Workflows are made to name it in their stored version. */
async function namedBy(layoutId: string, active: boolean): Promise<Json> {
  const workflow = await create(app, { name: `uses ${layoutId}`, active, steps: [email()] })
  const place = ['steps', '0', 'template', 'layoutId']
  await app.database.db.run(sql`
    update workflow_versions set definition = jsonb_set(definition, ${place}::text[], to_jsonb(${layoutId}::text))
    where workflow_id = ${workflow._id}`)
  return workflow
}

test('a layout that an active workflow names stays, and the refusal names the workflow', async () => {
  const used = await layout('used')
  const workflow = await namedBy('used', true)
  const byId = await namedBy(used._id, true)
  const identifiers = [workflow, byId].map((one) => one.triggers[0].identifier).sort()
  const refused = await app.call('DELETE', '/v1/layouts/used')
  assert.equal(refused.status, 409)
  assert.deepEqual(refused.body.workflows, identifiers)
  const renamed = await app.call('PATCH', '/v1/layouts/used', { body: { identifier: 'renamed' } })
  assert.equal(renamed.status, 409)
  const usage = await app.call('GET', '/v2/layouts/used/usage')
  assert.deepEqual(
    usage.body.workflows.map((one: Json) => one.workflowId),
    identifiers,
  )
  await app.call('PUT', `/v1/workflows/${workflow._id}/status`, { body: { active: false } })
  await app.call('DELETE', `/v1/workflows/${byId._id}`)
  assert.equal((await app.call('DELETE', '/v1/layouts/used')).status, 204)
})

test('another environment sees and touches nothing', async () => {
  const key = app.productionKey
  const mine = await layout('mine')
  for (const name of ['mine', mine._id]) {
    assert.equal((await app.call('GET', `/v1/layouts/${name}`, { key })).status, 404)
    assert.equal((await app.call('PATCH', `/v1/layouts/${name}`, { key, body: { name: 'x' } })).status, 404)
    assert.equal((await app.call('POST', `/v1/layouts/${name}/default`, { key })).status, 404)
    assert.equal((await app.call('DELETE', `/v1/layouts/${name}`, { key })).status, 404)
  }
  assert.deepEqual((await app.call('GET', '/v1/layouts', { key })).body.data, [])
  assert.equal((await app.call('GET', '/v1/layouts/mine')).body.isDefault, false)
})

test('the list pages, newest first', async () => {
  const all = (await app.call('GET', '/v1/layouts?limit=100')).body
  const page = (await app.call('GET', '/v1/layouts?limit=2&page=1')).body
  assert.deepEqual(page.data, all.data.slice(2, 4))
  assert.equal(page.totalCount, all.data.length)
  assert.equal((await app.call('GET', '/v1/layouts?limit=101')).status, 422)
})

test('the public client creates, reads, lists, updates, duplicates and deletes layouts', async () => {
  const scene = await createTestApp({ vendor: 'novu' })
  const serverURL = await scene.app.listen({ port: 0, host: '127.0.0.1' })
  const novu = new Novu({ secretKey: scene.developmentKey, serverURL, retryConfig: { strategy: 'none' } })
  try {
    const made = (await novu.layouts.create({ layoutId: 'acme', name: 'Acme' })).result
    assert.deepEqual([made.layoutId, made.isDefault, made.origin], ['acme', false, 'novu-cloud'])
    assert.match(made.controls.values.email?.body ?? '', /\{\{\{ body \}\}\}/)
    const controlValues = { email: { body: '<i>{{ "k" | t }}{{{body}}}</i>', editorType: 'html' as const } }
    const changed = (await novu.layouts.update({ name: 'Acme 2', controlValues }, 'acme')).result
    assert.deepEqual([changed.name, changed.isTranslationEnabled], ['Acme 2', true])
    assert.equal((await novu.layouts.retrieve('acme')).result.controls.values.email?.body, controlValues.email.body)
    const copy = (await novu.layouts.duplicate({ name: 'Copy of it' }, 'acme')).result
    assert.deepEqual([copy.layoutId, copy.controls.values.email?.body], ['copy-of-it', controlValues.email.body])
    const list = (await novu.layouts.list({ query: 'COPY' })).result
    assert.deepEqual([list.totalCount, list.layouts[0]?.layoutId], [1, 'copy-of-it'])
    assert.deepEqual((await novu.layouts.usage('acme')).result.workflows, [])
    await novu.layouts.delete('acme')
    assert.equal((await novu.layouts.list({})).result.totalCount, 1)
    await assert.rejects(novu.layouts.retrieve('acme'), { statusCode: 404 })
    const bad = novu.layouts.update(
      { name: 'x', controlValues: { email: { body: 'x', editorType: 'html' } } },
      copy.layoutId,
    )
    await assert.rejects(bad, { statusCode: 422 })
  } finally {
    await scene.close()
  }
})

test('an environment has a bounded number of layouts', async () => {
  const key = app.productionKey
  for (let index = 0; index < layoutsMax; index += 1) {
    const made = await app.call('POST', '/v1/layouts', { key, body: { name: `n${index}`, content } })
    assert.equal(made.status, 201, made.text)
  }
  assert.equal((await app.call('POST', '/v1/layouts', { key, body: { name: 'more', content } })).status, 409)
})

test('a layout is previewed around a sample body, as saved or with other content, for any subscriber', async () => {
  await layout('seen', { content: '<h1>{{ subscriber.firstName }} {{ "hello" | t }}</h1>{{content}}' })
  await app.call('POST', '/v2/translations', {
    body: { resourceType: 'layout', resourceId: 'seen', locale: 'en', content: { hello: 'Hello' } },
  })
  const preview = (body: object, name = 'seen') => app.call('POST', `/v2/layouts/${name}/preview`, { body })
  const plain = await preview({})
  assert.equal(plain.status, 201, plain.text)
  assert.match(plain.body.result.preview.body, /<h1>Ada Hello<\/h1><p>The content/)
  assert.equal(plain.body.previewPayloadExample.subscriber.firstName, 'Ada')
  const other = await preview({
    controlValues: { email: { body: '<i>{{ subscriber.firstName }}</i>{{{body}}}' } },
    previewPayload: { subscriber: { firstName: '<Grace>' } },
  })
  assert.match(other.body.result.preview.body, /<i>&lt;Grace&gt;<\/i>/)
  const bad = refusals(await preview({ controlValues: { email: { body: '{{ x' } } }))
  assert.ok('controlValues.email.body' in bad)
  assert.equal((await preview({}, 'unknown')).status, 404)
  assert.equal((await app.call('GET', '/v2/layouts/seen')).body.controls.values.email.body.includes('<i>'), false)
})

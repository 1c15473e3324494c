// Versions of workflows over the API: listed, compared, restored; and bundles that take a workflow to another environment.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createApiKey } from '../../src/manage/operate/api-keys.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { testAuthor } from '../support/test-author.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { create, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let reader: string
const custom = (token: string) => ({
  name: 'Call',
  template: { type: 'custom' },
  metadata: { type: 'http', url: `https://x.example/?token=${token}`, headers: { Authorization: token } },
})
before(async () => {
  app = await createTestApp()
  const made = await createApiKey(app.database.db, app.world, await environmentOf(app), {
    key: { name: 'reader', scopes: ['read'] },
    author: testAuthor,
    idempotency: undefined,
  })
  reader = made.body.key
  const first = { name: 'Shipped', workflowId: 'shipped', active: true, steps: [inApp('one', { name: 'Bell' })] }
  await create(app, first)
  for (const content of ['two', 'three']) {
    const body = { steps: [inApp(content, { name: 'Bell' }), custom(`hush-${content}`)] }
    assert.equal((await app.call('PATCH', '/v1/workflows/shipped', { body })).status, 200)
  }
})
after(() => app.close())

const get = async (path: string, key?: string): Promise<Json> => {
  const reply = await app.call('GET', path, key === undefined ? {} : { key })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}
const textOf = (lines: Json[]): string => lines.map(({ kind, text }) => `${kind[0]} ${text.trim()}`).join('\n')

test('versions are listed, newest first, in pages', async () => {
  const page = await get('/v1/workflows/shipped/versions?limit=2')
  assert.deepEqual(
    page.data.map(({ number, isCurrent, steps }: Json) => [number, isCurrent, steps]),
    [
      [3, true, 2],
      [2, false, 2],
    ],
  )
  assert.equal(page.hasMore, true)
  assert.equal(page.totalCount, 3)
  assert.equal((await get('/v1/workflows/shipped/versions?limit=2&page=1')).data[0].number, 1)
  assert.equal((await app.call('GET', '/v1/workflows/missing/versions')).status, 404)
})

test('two versions are compared, without secrets', async () => {
  const { from, to, lines } = await get('/v1/workflows/shipped/versions/2/diff')
  assert.deepEqual([from, to], [2, 3])
  assert.match(textOf(lines), /r content: two\na content: three/)
  assert.doesNotMatch(JSON.stringify(lines), /hush/)
  assert.match(textOf((await get('/v1/workflows/shipped/versions/3/diff?to=1')).lines), /r - name: Call/)
  assert.deepEqual((await get('/v1/workflows/shipped/versions/3/diff')).lines, [])
  assert.equal((await app.call('GET', '/v1/workflows/shipped/versions/9/diff')).status, 404)
  assert.equal((await app.call('GET', '/v1/workflows/shipped/versions/x/diff')).status, 422)
})

test('an old version is restored as a new one, with what was secret in it', async () => {
  const reply = await app.call('POST', '/v1/workflows/shipped/versions/2/restore')
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.body.steps[0].template.content, 'two')
  assert.equal(reply.body.steps[1].metadata.headers.Authorization, 'hush-two')
  assert.deepEqual((await get('/v1/workflows/shipped/versions/2/diff?to=4')).lines, [])
  // What is current already stays as it is.
  await app.call('POST', '/v1/workflows/shipped/versions/4/restore')
  assert.equal((await get('/v1/workflows/shipped/versions')).data[0].number, 4)
  const refusedReply = await app.call('POST', '/v1/workflows/shipped/versions/1/restore', { key: reader })
  assert.equal(refusedReply.status, 403)
})

test('a layout that is gone keeps a version from being restored', async () => {
  const layout = { name: 'Old', identifier: 'old', content: '<html>{{{body}}}</html>' }
  await app.call('POST', '/v1/layouts', { body: layout })
  await create(app, { name: 'Framed', workflowId: 'framed', steps: [email('a', { name: 'Mail' })] })
  const named = { ...email('b', { name: 'Mail' }) }
  named.template = { ...named.template, layoutId: 'old' }
  assert.equal((await app.call('PATCH', '/v1/workflows/framed', { body: { steps: [named] } })).status, 200)
  assert.equal((await app.call('PATCH', '/v1/workflows/framed', { body: { steps: [inApp()] } })).status, 200)
  assert.ok((await app.call('DELETE', '/v1/layouts/old')).status < 300)
  const reply = await app.call('POST', '/v1/workflows/framed/versions/2/restore')
  assert.equal(reply.status, 422)
  assert.match(reply.text, /unknown layout/)
})

test('a bundle goes to another environment with its layouts and feeds, after a look at what changes', async () => {
  const key = app.productionKey
  await app.call('POST', '/v1/layouts', {
    body: { name: 'Acme', identifier: 'acme', content: '<html>{{{body}}}</html>' },
  })
  await app.call('POST', '/v1/feeds', { body: { name: 'News', identifier: 'news' } })
  const bell = inApp('Hello', { name: 'Bell' })
  bell.template.feedId = 'news'
  const mail = email('Hello', { name: 'Mail' })
  mail.template.layoutId = 'acme'
  await create(app, { name: 'Travels', workflowId: 'travels', active: true, steps: [bell, mail, custom('hush')] })
  const { files, ...bundle } = await get('/v1/workflows/travels/bundle')
  assert.match(files[0].text, /^# yaml[\s\S]*workflowId: travels/)
  const diff = await app.call('POST', '/v1/workflow-bundles/diff', { key, body: bundle })
  assert.equal(diff.status, 200, diff.text)
  assert.deepEqual(
    diff.body.changes.map(({ resource, kind, identifier }: Json) => `${kind} ${resource} ${identifier}`),
    ['create feed news', 'create layout acme', 'create workflow travels'],
  )
  assert.doesNotMatch(diff.text, /hush/)
  assert.equal((await app.call('GET', '/v1/workflows/travels', { key })).status, 404)
  const written = await app.call('PUT', '/v1/workflow-bundles', { key, body: bundle })
  assert.deepEqual(written.body, diff.body)
  const there = (await app.call('GET', '/v1/workflows/travels', { key })).body
  assert.equal(there.active, true)
  assert.equal(there.steps[2].metadata.headers.Authorization, 'hush')
  assert.deepEqual((await app.call('PUT', '/v1/workflow-bundles', { key, body: bundle })).body, { changes: [] })
  await app.call('PATCH', '/v1/layouts/acme', { body: { content: '<html><b>{{{body}}}</b></html>' } })
  await app.call('PATCH', '/v1/workflows/travels', { body: { name: 'Travels far' } })
  const { files: _files, ...next } = await get('/v1/workflows/travels/bundle')
  const again = await app.call('PUT', '/v1/workflow-bundles', { key, body: next })
  assert.deepEqual(
    again.body.changes.map(({ resource, kind }: Json) => `${kind} ${resource}`),
    ['change layout', 'change workflow'],
  )
  assert.match((await app.call('GET', '/v1/layouts/acme', { key })).body.content, /<b>/)
})

test('a bundle that was read without its secrets is refused', async () => {
  const { files, ...bundle } = await get('/v1/workflows/travels/bundle', reader)
  assert.doesNotMatch(JSON.stringify([files, bundle]), /hush/)
  const reply = await app.call('PUT', '/v1/workflow-bundles', { key: app.productionKey, body: bundle })
  assert.equal(reply.status, 422)
  assert.match(reply.text, /\[redacted\] where a secret stood/)
})

test('an older version is a bundle as well', async () => {
  const { workflow } = await get('/v1/workflows/shipped/bundle?version=1')
  assert.equal(workflow.steps.length, 1)
  assert.equal(workflow.steps[0].template.content, 'one')
})

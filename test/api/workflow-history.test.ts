// Versions of workflows over the API: listed, compared, restored, read as files; and what a promotion would change, line by line.
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

test('a version is not restored over one that was saved in the meantime', async () => {
  const restore = (query: string) => app.call('POST', `/v1/workflows/shipped/versions/1/restore${query}`)
  const late = await restore('?ifCurrent=3')
  assert.equal(late.status, 409, late.text)
  assert.match(late.text, /Version 3 is no longer the current one/)
  assert.equal((await get('/v1/workflows/shipped/versions')).data[0].number, 4)
  assert.equal((await restore('?ifCurrent=0')).status, 422)
  assert.equal((await restore('?ifCurrent=4')).status, 200)
  assert.equal((await get('/v1/workflows/shipped/versions')).data[0].number, 5)
  // As it was before.
  assert.equal((await app.call('POST', '/v1/workflows/shipped/versions/4/restore?ifCurrent=5')).status, 200)
})

test('a workflow is not changed over what was saved in the meantime, one call after the other or both at once', async () => {
  await create(app, { name: 'Of two', workflowId: 'of-two', steps: [inApp()] })
  const known = async () => `?ifUpdatedAt=${(await get('/v1/workflows/of-two')).updatedAt}`
  const change = (query: string, name: string) => app.call('PATCH', `/v1/workflows/of-two${query}`, { body: { name } })
  const first = await known()
  app.world.advance(1_000)
  assert.equal((await change(first, 'Mine')).status, 200)
  app.world.advance(1_000)
  const late = await change(first, 'Theirs')
  assert.equal(late.status, 409, late.text)
  assert.match(late.text, /saved in the meantime/)
  const replaced = { name: 'Theirs', steps: [inApp()] }
  assert.equal((await app.call('PUT', `/v1/workflows/of-two${first}`, { body: replaced })).status, 409)
  assert.equal((await get('/v1/workflows/of-two')).name, 'Mine')
  const second = await known()
  const both = await Promise.all([change(second, 'A'), change(second, 'B')])
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409])
  // Without it the last one wins, as ever.
  assert.equal((await change('', 'Anyway')).status, 200)
  assert.equal((await change('?ifUpdatedAt=yesterday', 'No')).status, 422)
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

test('a version is read as files, without secrets for who may only read', async () => {
  const { number, files } = await get('/v1/workflows/shipped/versions/1/files')
  assert.equal(number, 1)
  assert.match(files[0].text, /^# yaml[\s\S]*workflowId: shipped[\s\S]*content: one/)
  assert.match(JSON.stringify(await get('/v1/workflows/shipped/versions/2/files')), /hush-two/)
  assert.doesNotMatch(JSON.stringify(await get('/v1/workflows/shipped/versions/2/files', reader)), /hush/)
})

test('a dry run for another environment comes with the lines that differ', async () => {
  const { notes: _notes, ...parts } = await get('/v1/configuration?workflows=shipped')
  const body = { ...parts, dryRun: true, lines: true }
  const reply = await app.call('POST', '/v1/configuration', { key: app.productionKey, body })
  assert.equal(reply.status, 200, reply.text)
  const [change] = reply.body.changes
  assert.deepEqual([change.kind, change.action], ['workflow', 'create'])
  assert.match(textOf(change.lines), /a workflowId: shipped/)
  assert.doesNotMatch(JSON.stringify(change.lines), /hush/)
})

test('what was exported without its secrets replaces none, whoever applies it', async () => {
  const whole = await get('/v1/configuration?workflows=shipped')
  const { notes: _whole, ...kept } = whole
  assert.equal((await app.call('POST', '/v1/configuration', { key: app.productionKey, body: kept })).status, 200)
  const { notes: _notes, ...parts } = await get('/v1/configuration?workflows=shipped', reader)
  assert.match(JSON.stringify(parts), /redacted/)
  for (const dryRun of [true, false]) {
    const reply = await app.call('POST', '/v1/configuration', { key: app.productionKey, body: { ...parts, dryRun } })
    assert.equal(reply.status, 422, reply.text)
    assert.match(reply.text, /says \[redacted\] where a secret stood/)
  }
})

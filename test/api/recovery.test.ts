// Recovery over the API: what a filter may say, pages, rights, and a repeat with the same key.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { email, inApp, refusals } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  for (const one of await scene.expect(200, 'GET', '/v1/integrations')) {
    if (one.channel === 'email') await scene.expect(200, 'DELETE', `/v1/integrations/${one._id}`)
  }
})
after(() => app.close())

const refusedFilter = async (filter: object): Promise<Record<string, string>> =>
  refusals(await app.call('POST', '/v1/redrives', { body: { filter } }))

/** A run whose e-mail no one can send. */
async function failedRun(): Promise<Json> {
  const name = fresh('person')
  await scene.subscribers(name)
  return scene.run(await scene.workflow([email('Hello')]), name)
}

test('a filter that cannot be meant is refused, with every member that is wrong', async () => {
  assert.match((await refusedFilter({}))['filter'] ?? '', /at least one field/)
  const said = await refusedFilter({
    workflow: 'missing',
    providerId: 'sendgridd',
    from: 'yesterday',
    to: '1969-01-01',
    subscriberId: 'missing',
    transactionId: 'missing',
  })
  assert.match(said['filter.workflow'] ?? '', /No workflow has the identifier missing/)
  assert.match(said['filter.providerId'] ?? '', /did you mean sendgrid/)
  assert.match(said['filter.from'] ?? '', /ISO 8601/)
  assert.match(said['filter.to'] ?? '', /since 1970/)
  assert.match(said['filter.subscriberId'] ?? '', /not found/)
  assert.match(said['filter.transactionId'] ?? '', /No event/)
  assert.match((await refusedFilter({ from: '2026-01-02', to: '2026-01-01' }))['filter.to'] ?? '', /after filter.from/)
  const other = await refusedFilter({ channel: 'sms', providerId: 'sendgrid' })
  assert.match(other['filter.channel'] ?? '', /sendgrid is a provider for email/)
  for (const filter of [
    { channel: 'fax' },
    { reason: 'whim' },
    { errorContains: '' },
    { errorContains: 'x'.repeat(201) },
  ]) {
    assert.equal((await app.call('POST', '/v1/redrives', { body: { filter } })).status, 422, JSON.stringify(filter))
  }
  assert.equal((await app.call('POST', '/v1/redrives', { body: {} })).status, 422)
  assert.equal((await app.call('POST', '/v1/redrives', { body: { filter: {}, dryRun: true } })).status, 422)
})

test('redrives are listed newest first, page by page, and only one’s own', async () => {
  const ids: string[] = []
  for (const channel of ['email', 'sms', 'push']) {
    app.world.advance(1_000)
    ids.unshift((await scene.expect(202, 'POST', '/v1/redrives', { filter: { channel } }))._id)
  }
  const first = await scene.expect(200, 'GET', '/v1/redrives?limit=2')
  assert.deepEqual(
    first.data.map((one: Json) => one._id),
    ids.slice(0, 2),
  )
  assert.equal(first.totalCount, 3)
  const second = await scene.expect(200, 'GET', `/v1/redrives?limit=2&after=${first.next}`)
  assert.deepEqual([second.data.map((one: Json) => one._id), second.next], [ids.slice(2), null])
  const key = app.productionKey
  assert.deepEqual((await app.call('GET', '/v1/redrives', { key })).body.data, [])
  assert.equal((await app.call('GET', `/v1/redrives/${ids[0]}`, { key })).status, 404)
  assert.equal((await app.call('DELETE', `/v1/redrives/${ids[0]}`, { key })).status, 404)
  for (const id of ['missing', '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21']) {
    assert.equal((await app.call('GET', `/v1/redrives/${id}`)).status, 404)
    assert.equal((await app.call('DELETE', `/v1/redrives/${id}`)).status, 404)
    assert.equal((await app.call('POST', `/v1/buried/${id}/redrive`)).status, 404)
  }
})

test('a repeat with the same key gets the first answer, and nothing runs twice', async () => {
  const failed = await failedRun()
  const headers = { 'idempotency-key': fresh('key') }
  const path = `/v1/notifications/${failed._id}/redrive`
  const first = await app.call('POST', path, { headers })
  const second = await app.call('POST', path, { headers })
  assert.deepEqual([first.status, second.status, second.body], [202, 202, first.body])
  assert.equal(second.headers['idempotency-replay'], 'true')
  assert.equal((await app.call('POST', path)).status, 409)
})

test('a key that may only read changes nothing, and may look', async () => {
  const { key } = await scene.expect(201, 'POST', '/v1/environments/api-keys', { scopes: ['read'] })
  const failed = await failedRun()
  const paths = ['redrive', 'cancel', 'retract'].map((verb) => `/v1/notifications/${failed._id}/${verb}`)
  for (const path of [
    ...paths,
    `/v1/events/${failed.transactionId}/redrive`,
    `/v1/events/${failed.transactionId}/retract`,
  ]) {
    assert.equal((await app.call('POST', path, { key })).status, 403, path)
  }
  const body = { filter: { channel: 'email' } }
  assert.equal((await app.call('POST', '/v1/redrives', { key, body })).status, 403)
  assert.equal((await app.call('GET', '/v1/redrives', { key })).status, 200)
  assert.equal((await app.call('GET', '/v1/buried', { key })).status, 200)
})

test('jobs and tasks that were buried stand in one list, newest first, page by page', async () => {
  const environment = await environmentOf(app)
  const { transactionId } = await scene.run(await scene.workflow([inApp('said')]), fresh('person'))
  const at = (seconds: number): Date => new Date(app.world.now().getTime() + seconds * 1_000)
  await scene.rows(sql`
    update jobs set buried_at = ${at(1)}, details = '[{"code": "buried", "raw": "{\\"message\\":\\"job broke\\"}"}]'
    where event_id = (select id from events where transaction_id = ${transactionId})`)
  for (const second of [0, 2, 3]) {
    await scene.rows(sql`
      insert into tasks (environment_id, id, kind, lane, claims, state, error, created_at, buried_at)
      values (${environment.id}, gen_random_uuid(), 'poll', 0, 5, '{}', ${`task ${second}`}, now(), ${at(second)})`)
  }
  const pages: Json[] = []
  let after: string | null = ''
  while (after !== null) {
    const page: Json = await scene.expect(200, 'GET', `/v1/buried?limit=3${after === '' ? '' : `&after=${after}`}`)
    pages.push(page)
    after = page.next
  }
  assert.deepEqual(
    pages.map((page) => page.data.map((one: Json) => one.reason)),
    [['task 3', 'task 2', 'job broke'], ['task 0']],
  )
  assert.equal(pages[0].totalCount, 4)
  const back = await scene.expect(200, 'GET', `/v1/buried?limit=3&before=${pages[1].previous}`)
  assert.deepEqual(back.data, pages[0].data)
  const jobs = await scene.expect(200, 'GET', '/v1/buried?kind=job')
  assert.deepEqual(
    jobs.data.map((one: Json) => [one.kind, one.transactionId, one.task]),
    [['job', transactionId, undefined]],
  )
  assert.deepEqual((await app.call('GET', '/v1/buried', { key: app.productionKey })).body.data, [])
  assert.equal((await app.call('GET', '/v1/buried?kind=ghost')).status, 422)
})

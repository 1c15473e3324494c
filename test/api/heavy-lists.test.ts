// Lists of things that callers made as large as they may be: refused before they are read, or read and written in turns.
import assert from 'node:assert/strict'
import { get } from 'node:http'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { inVendorWords } from '../../src/http/vendor.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { listen } from '../support/raw-socket.ts'
import { watchWork } from '../support/turn-cpu.ts'

const count = 20
/** Nothing is slower to parse and to write for its size than many empty lists: a megabyte of them. */
const dense = sql`(select jsonb_agg('[]'::jsonb) from generate_series(1, 250000))`

let app: TestApp
let novu: TestApp
let reader: string
let port: number
let novuPort: number
before(async () => {
  app = await createTestApp()
  novu = await createTestApp({ nodeOf: app, vendor: 'novu' })
  const created = await app.call('POST', '/v1/environments/api-keys', { body: { name: 'reader', scopes: ['read'] } })
  reader = created.body.key
  port = await listen(app)
  novuPort = await listen(novu)
  await fill()
})
after(async () => {
  await novu.close()
  await app.close()
})

/** Made small, and then large: sending them would take longer than all tests do. */
async function fill(): Promise<void> {
  const expect = async (method: string, path: string, body: Json): Promise<Json> => {
    const reply = await app.call(method, path, { body })
    assert.ok(reply.status < 300, reply.text)
    return reply.body
  }
  for (let at = 0; at < count; at += 1) {
    await expect('POST', '/v1/tenants', { identifier: `tenant-${at}`, data: { at } })
    await expect('POST', '/v2/subscribers', { subscriberId: `person-${at}`, data: { at } })
    const step = { template: { type: 'in_app', content: 'Hello' } }
    await expect('POST', '/v1/workflows', { name: `Workflow ${at}`, workflowId: `workflow-${at}`, steps: [step] })
  }
  const { db } = app.database
  const more = sql`jsonb_build_object('dense', ${dense})`
  // A few at a time: on a busy machine all of them at once take longer than a statement may.
  for (let from = 0; from < count; from += 5) {
    const namesOf = (of: string): string[] => Array.from({ length: 5 }, (_, at) => `${of}-${from + at}`)
    await db.run(sql`update tenants set data = data || ${more} where identifier = any(${namesOf('tenant')})`)
    await db.run(sql`update subscribers set data = data || ${more} where subscriber_id = any(${namesOf('person')})`)
    await db.run(sql`
      update workflow_versions set definition = definition || jsonb_build_object('data', ${more})
      where id in (select version_id from workflows where identifier = any(${namesOf('workflow')}))`)
  }
}

/** Their bytes are not parsed: that would be a long turn of the test's own. */
function bytesOf(path: string, from = port): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    get({ port: from, path, headers: { authorization: `ApiKey ${reader}` } }, (answer) => {
      const pieces: Buffer[] = []
      answer.on('data', (piece: Buffer) => pieces.push(piece))
      answer.on('end', () => resolve(Buffer.concat(pieces))).on('error', reject)
    }).on('error', reject)
  })
}

/** Half a million brackets take long to compare. */
const inShort = (item: Json): Json =>
  JSON.parse(JSON.stringify(item, (name, value) => (name === 'dense' ? value.length : value)))

const lists: Readonly<Record<string, readonly [path: string, items?: string, offset?: 'offset']>> = {
  tenants: ['/v1/tenants'],
  subscribers: ['/v1/subscribers'],
  workflows: ['/v1/workflows'],
  'workflows of v2': ['/v2/workflows', 'workflows', 'offset'],
}

for (const [name, [path, items = 'data', offset]] of Object.entries(lists)) {
  const pageOf = (limit: number, page: number): string =>
    `${path}?limit=${limit}&${offset === undefined ? `page=${page}` : `offset=${page * limit}`}`

  test(`${name}: a page with too much on it names the limit`, async () => {
    const reply = await app.call('GET', pageOf(50, 0), { key: reader })
    assert.equal(reply.status, 422, reply.text.slice(0, 200))
    assert.match(reply.body.errors.limit.messages[0], /^limit must be smaller: these 20 items have \d+ characters/)
  })

  test(`${name}: a large page is read and written in turns, each item as it is by itself`, async () => {
    const { result, share } = await watchWork(() => bytesOf(pageOf(10, 1)))
    const page = JSON.parse(result.toString())
    assert.equal(page[items].length, 10)
    assert.ok(share < 1, `${share} of what a turn may take`)
    const alone = await app.call('GET', pageOf(1, 13), { key: reader })
    assert.deepEqual(inShort(page[items][3]), inShort(alone.body[items][0]))
  })
}

test('subscribers by cursor: refused by their weight, also of a search; and a small page goes on after its cursor', async () => {
  for (const query of ['limit=50', 'limit=50&name=', 'limit=50&orderBy=subscriberId&orderDirection=ASC']) {
    const reply = await app.call('GET', `/v2/subscribers?${query}`, { key: reader })
    assert.equal(reply.status, 422, query)
    assert.ok(reply.body.errors.limit, query)
  }
  const { result, share } = await watchWork(() => bytesOf('/v2/subscribers?limit=10'))
  assert.ok(share < 1, `${share} of what a turn may take`)
  const page = JSON.parse(result.toString())
  const next = await app.call('GET', `/v2/subscribers?limit=1&after=${encodeURIComponent(page.next)}`, { key: reader })
  assert.equal(next.body.data[0].data.at, count - 11)
})

test('in the words of the vendor a large page is renamed in turns, to what a small one is', async () => {
  const path = '/v1/workflows?limit=10'
  const { result, share } = await watchWork(() => bytesOf(path, novuPort))
  assert.ok(share < 1, `${share} of what a turn may take`)
  const plain = JSON.parse((await bytesOf(path)).toString())
  assert.deepEqual(inShort(JSON.parse(result.toString())), inShort(inVendorWords(plain)))
})

test('a configuration is read in sets and exported in turns; too much of it names the workflows', async () => {
  const names = Array.from({ length: 5 }, (_, at) => `workflows=workflow-${at}`).join('&')
  const { result, share } = await watchWork(() => bytesOf(`/v1/configuration?${names}`))
  assert.equal(JSON.parse(result.toString()).workflows.length, 5)
  assert.ok(share < 1, `${share} of what a turn may take`)
  await app.database.db.run(
    sql`update workflow_versions set definition = definition || jsonb_build_object('more', repeat('x', 4000000))`,
  )
  const whole = await app.call('GET', '/v1/configuration', { key: reader })
  assert.equal(whole.status, 422)
  assert.match(whole.body.errors.workflows.messages[0], /^workflows must be fewer: these 20 have \d+ characters/)
  const body = { workflows: [], deleteWorkflows: true, dryRun: true }
  const applied = await app.call('POST', '/v1/configuration', { body })
  assert.equal(applied.status, 422)
  assert.deepEqual(Object.keys(applied.body.errors), ['deleteWorkflows'])
  assert.match(
    applied.body.errors.deleteWorkflows.messages[0],
    /^deleteWorkflows must be absent: the 20 workflows .* delete workflows one by one$/,
  )
})

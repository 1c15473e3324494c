// Sealed values that are moved from one row to another of the same environment, as who may write to the database could:
// no answer shows them under the other row.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

/** Overwrites the sealed column of one of two rows with that of the other. */
async function moveAll(table: string, column: string): Promise<void> {
  const moved = await app.database.db.rows({
    text: `update ${table} set ${column} = (select ${column} from ${table} order by ${column} limit 1)
           where ${column} is distinct from (select ${column} from ${table} order by ${column} limit 1) returning 1`,
    values: [],
  })
  assert.equal(moved.length, 1, `${table} has two rows, and one is overwritten`)
}

const made = async (method: string, path: string, body: object): Promise<void> => {
  const reply = await app.call(method, path, { body })
  assert.ok(reply.status < 300, reply.text)
}

test('credentials of a subscriber’s channel do not open for another subscriber', async () => {
  await made('POST', '/v1/integrations', { providerId: 'slack', channel: 'chat', active: true, credentials: {} })
  const paths = ['ada', 'bob'].map((name) => `/v1/subscribers/${name}`)
  for (const path of paths) {
    const name = path.slice(-3)
    await made('POST', '/v2/subscribers', { subscriberId: name })
    const credentials = { webhookUrl: `https://hooks.slack.com/services/T/B/hush-${name}` }
    await made('PUT', `${path}/credentials`, { providerId: 'slack', credentials })
    assert.match((await app.call('GET', path)).text, new RegExp(`hush-${name}`))
  }
  await moveAll('subscriber_channels', 'credentials')
  const texts = await Promise.all(paths.map(async (path) => (await app.call('GET', path)).text))
  assert.doesNotMatch(texts[0] ?? '', /hush-bob/)
  assert.doesNotMatch(texts[1] ?? '', /hush-ada/)
})

test('a stored answer does not open for another idempotency key', async () => {
  const call = (name: string) =>
    app.call('POST', '/v1/environments/api-keys', {
      body: { name, scopes: ['read'] },
      headers: { 'idempotency-key': name },
    })
  const [one, two] = [await call('one'), await call('two')]
  assert.deepEqual((await call('one')).body, one.body)
  await moveAll('idempotency_keys', 'answer')
  assert.ok(!(await call('one')).text.includes(two.body.key))
  assert.ok(!(await call('two')).text.includes(one.body.key))
})

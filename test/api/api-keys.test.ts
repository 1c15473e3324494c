// API keys and environments over the API: who may do what, until when, and what is kept of a key.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql, Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { hashOfApiKey } from '../../src/domain/operate/api-key.ts'
import { removeApiKey } from '../../src/manage/operate/api-keys.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { testAuthor } from '../support/test-author.ts'

const keysPath = '/v1/environments/api-keys'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

async function newKey(of: TestApp, body: object, key?: string): Promise<{ _id: string; key: string }> {
  const reply = await of.call('POST', keysPath, { body, ...(key === undefined ? {} : { key }) })
  assert.equal(reply.status, 201, reply.text)
  return reply.body
}

test('a new key is shown once, works at once, and is listed by its hint only', async () => {
  const reply = await app.call('POST', keysPath, { body: { name: 'Orders', scopes: ['trigger', 'read'] } })
  assert.equal(reply.status, 201)
  const { key, ...shown } = reply.body
  assert.match(key, /^ph_[0-9A-Za-z]{43}$/)
  assert.deepEqual(shown, {
    _id: shown._id,
    name: 'Orders',
    hint: key.slice(-4),
    scopes: ['trigger', 'read'],
    signing: false,
    createdAt: app.world.now().toISOString(),
  })
  assert.equal((await app.call('GET', '/v1/environments', { key })).status, 200)
  const list = await app.call('GET', keysPath)
  assert.equal(list.status, 200)
  // When it was used is written beside the call.
  const { lastUsedAt: _used, ...entry } = list.body.data[0]
  assert.deepEqual(entry, shown)
  assert.equal(list.text.includes(key), false)
  assert.equal(list.text.includes(hashOfApiKey(key).toString('hex')), false)
})

test('the list of keys is paged, newest first', async () => {
  const [first, second, third] = [await newKey(app, {}), await newKey(app, {}), await newKey(app, {})]
  const page = await app.call('GET', `${keysPath}?limit=2`)
  assert.deepEqual(
    page.body.data.map((key: { _id: string }) => key._id),
    [third._id, second._id],
  )
  assert.deepEqual([page.body.hasMore, page.body.page, page.body.pageSize], [true, 0, 2])
  const next = await app.call('GET', `${keysPath}?limit=2&page=1`)
  assert.equal(next.body.data[0]._id, first._id)
  assert.equal(next.body.totalCount, page.body.totalCount)
  for (const query of ['limit=101', 'limit=0', 'limit=x', 'page=-1']) {
    assert.equal((await app.call('GET', `${keysPath}?${query}`)).status, 422, query)
  }
})

test('a key without scopes may do everything', async () => {
  const created = await app.call('POST', keysPath, { body: {} })
  assert.deepEqual(created.body.scopes, ['full'])
  const { key } = created.body
  assert.equal((await app.call('POST', '/v1/tenants', { key, body: { identifier: 'by-full' } })).status, 201)
  assert.equal((await app.call('GET', '/v1/tenants', { key })).status, 200)
  assert.equal((await app.call('GET', keysPath, { key })).status, 200)
})

test('a read key reads, and can neither write nor see keys', async () => {
  const { key } = await newKey(app, { scopes: ['read'] })
  assert.equal((await app.call('GET', '/v1/tenants', { key })).status, 200)
  const write = await app.call('POST', '/v1/tenants', { key, body: { identifier: 'by-read' } })
  assert.equal(write.status, 403)
  assert.equal(write.body.message, 'This API key is not allowed to do this: it needs the scope "subscribers:write"')
  assert.equal((await app.call('GET', '/v1/tenants/by-read')).status, 404)
  assert.equal((await app.call('GET', keysPath, { key })).status, 403)
  assert.equal((await app.call('POST', keysPath, { key, body: {} })).status, 403)
})

test('a trigger key cannot read', async () => {
  const { key } = await newKey(app, { scopes: ['trigger'] })
  for (const path of ['/v1/tenants', '/v1/environments', '/v1/environments/me', keysPath]) {
    assert.equal((await app.call('GET', path, { key })).status, 403, path)
  }
})

test('a key stops at the time it expires, and not before', async () => {
  const expiresAt = new Date(app.world.now().getTime() + 60_000).toISOString()
  const { key } = await newKey(app, { expiresAt })
  app.world.advance(59_999)
  assert.equal((await app.call('GET', '/v1/environments', { key })).status, 200)
  app.world.advance(1)
  const reply = await app.call('GET', '/v1/environments', { key })
  assert.equal(reply.status, 401)
  assert.equal(reply.body.message, 'API Key not found')
})

test('a key that makes no sense is refused with the field named', async () => {
  const past = new Date(app.world.now().getTime() - 1).toISOString()
  const refused: [object, string][] = [
    [{ expiresAt: 'tomorrow' }, 'expiresAt'],
    [{ expiresAt: 1_900_000_000 }, 'expiresAt'],
    [{ expiresAt: '2030-01-31' }, 'expiresAt'],
    [{ expiresAt: past }, 'expiresAt'],
    [{ expiresAt: app.world.now().toISOString() }, 'expiresAt'],
    [{ expiresAt: '2030-12-31T23:59:60Z' }, 'expiresAt'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: 'full' }, 'scopes'],
    [{ scopes: ['read', 'read'] }, 'scopes'],
    [{ scopes: ['admin'] }, 'scopes.0'],
    [{ name: '' }, 'name'],
    [{ name: 5 }, 'name'],
    [{ name: 'bell\u0007' }, 'name'],
    [{ name: 'n'.repeat(256) }, 'name'],
  ]
  for (const [body, field] of refused) {
    const reply = await app.call('POST', keysPath, { body })
    assert.equal(reply.status, 422, JSON.stringify(body))
    assert.deepEqual(Object.keys(reply.body.errors), [field], JSON.stringify(body))
  }
})

test('a repeat with the same idempotency key gets the same API key, even when that has expired meanwhile', async () => {
  const headers = { 'idempotency-key': 'make-a-key' }
  const body = { name: 'Once', expiresAt: new Date(app.world.now().getTime() + 1000).toISOString() }
  const first = await app.call('POST', keysPath, { headers, body })
  app.world.advance(2000)
  const again = await app.call('POST', keysPath, { headers, body })
  assert.equal(first.status, 201)
  assert.equal(first.headers['idempotency-replay'], undefined)
  assert.equal(again.status, 201)
  assert.equal(again.headers['idempotency-replay'], 'true')
  assert.deepEqual(again.body, first.body)
  const list = await app.call('GET', `${keysPath}?limit=100`)
  assert.equal(list.body.data.filter((key: { name: string }) => key.name === 'Once').length, 1)
})

test('only hashes are kept: no row of any table holds a key in clear', async () => {
  const headers = { 'idempotency-key': 'sealed-answer' }
  const { key } = (await app.call('POST', keysPath, { headers, body: { name: 'Hidden' } })).body
  const db = app.database.db
  const stored = await db.row<{ hash: Buffer }>(sql`select hash from api_keys where hash = ${hashOfApiKey(key)}`)
  assert.ok(stored, 'the hash is how the key is found')
  const tables = await db.rows<{ name: string }>(
    sql`select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  )
  assert.ok(tables.some(({ name }) => name === 'api_keys') && tables.some(({ name }) => name === 'idempotency_keys'))
  const hex = Buffer.from(key).toString('hex')
  for (const { name } of tables) {
    const found = await db.rows({
      text: `select 1 from "${name}" as t where to_jsonb(t)::text like $1 or to_jsonb(t)::text like $2`,
      values: [`%${key}%`, `%${hex}%`],
    })
    assert.deepEqual(found, [], `the table ${name} holds the key`)
  }
})

const wrongScheme = 'Invalid authentication scheme: send the header "Authorization: ApiKey <key>"'

test('a key is taken after Bearer too', async () => {
  const headers = { authorization: `Bearer ${app.developmentKey}` }
  assert.equal((await app.call('GET', '/v1/environments', { key: null, headers })).status, 200)
})

test('a header without a valid key gets the exact reason, and never the key', async () => {
  const cases: [string | undefined, string][] = [
    [undefined, 'Missing authorization header'],
    ['ApiKey ph_no-one-has-this-key', 'API Key not found'],
    [`ApiKey ${'k'.repeat(10_000)}`, 'API Key not found'],
    ['ApiKey ', 'Unauthorized'],
    ['ApiKey', 'Unauthorized'],
    ['Bearer some-token', 'Unauthorized'],
    [`Bearer ${'k'.repeat(10_000)}`, 'Unauthorized'],
    [`Basic ${app.developmentKey}`, wrongScheme],
    [`apikey ${app.developmentKey}`, wrongScheme],
    [`APIKEY ${app.developmentKey}`, wrongScheme],
    [app.developmentKey, wrongScheme],
    [`ApiKey:${app.developmentKey}`, wrongScheme],
    [`"${app.developmentKey}" x`, wrongScheme],
  ]
  for (const [authorization, message] of cases) {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
    const reply = await app.call('GET', '/v1/environments', { key: null, headers })
    assert.equal(reply.status, 401, String(authorization))
    assert.deepEqual(reply.body, {
      statusCode: 401,
      timestamp: app.world.now().toISOString(),
      path: '/v1/environments',
      message,
      error: 'Unauthorized',
      ctx: {},
    })
    assert.equal(reply.headers['www-authenticate'], 'ApiKey')
    assert.ok(!JSON.stringify([reply.body, reply.headers]).includes(app.developmentKey))
  }
})

test('authentication comes before validation and before the body is looked at', async () => {
  assert.equal((await app.call('POST', keysPath, { key: null, body: { scopes: [] } })).status, 401)
  assert.equal((await app.call('DELETE', `${keysPath}/not-an-id`, { key: null })).status, 401)
})

test('a key is revoked by its id, once', async () => {
  const { _id, key } = await newKey(app, {})
  const revoked = await app.call('DELETE', `${keysPath}/${_id}`)
  assert.equal(revoked.status, 204)
  assert.equal(revoked.text, '')
  assert.equal((await app.call('GET', '/v1/environments', { key })).status, 401)
  assert.equal((await app.call('DELETE', `${keysPath}/${_id}`)).status, 404)
  const list = await app.call('GET', `${keysPath}?limit=1`)
  assert.equal(list.body.data[0].revokedAt, app.world.now().toISOString())
})

test('an id that is no UUID is refused, and an unknown one is not found', async () => {
  const reply = await app.call('DELETE', `${keysPath}/${app.developmentKey}`)
  assert.equal(reply.status, 422)
  assert.deepEqual(Object.keys(reply.body.errors), ['keyId'])
  const unknown = app.world.newId(app.world.now())
  const missing = await app.call('DELETE', `${keysPath}/${unknown}`)
  assert.equal(missing.status, 404)
  assert.equal(missing.body.message, `API key ${unknown} not found`)
})

test('another environment’s key is neither listed nor revoked', async () => {
  const { _id, key } = await newKey(app, { name: 'Theirs' }, app.productionKey)
  assert.equal((await app.call('DELETE', `${keysPath}/${_id}`)).status, 404)
  assert.equal((await app.call('GET', '/v1/environments', { key })).status, 200)
  const mine = await app.call('GET', `${keysPath}?limit=100`)
  assert.equal(mine.body.hasMore, false)
  assert.equal(
    mine.body.data.some((listed: { _id: string }) => listed._id === _id),
    false,
  )
})

test('the environments of the organization are listed, and a key knows its own', async () => {
  const list = await app.call('GET', '/v1/environments')
  assert.equal(list.status, 200)
  const [development, production] = list.body
  assert.deepEqual([development.name, production.name, list.body.length], ['Development', 'Production', 2])
  const members = ['_id', 'name', 'identifier', '_organizationId', 'configurations', 'createdAt']
  assert.deepEqual(Object.keys(development), members)
  assert.equal(production._parentId, development._id)
  assert.equal(production._organizationId, development._organizationId)
  const own = await app.call('GET', '/v1/environments/me', { key: app.productionKey })
  const { signingSecret, signingSecrets, ...rest } = own.body
  assert.deepEqual(rest, production)
  assert.match(signingSecret, /^[0-9a-f]{64}$/)
  assert.deepEqual(signingSecrets, [{ version: 1, secret: signingSecret, createdAt: production.createdAt }])
  assert.notEqual((await app.call('GET', '/v1/environments/me')).body.signingSecret, signingSecret)
})

test('environments of another organization are not listed', async () => {
  const now = app.world.now()
  const [organizationId, environmentId] = [app.world.newId(now), app.world.newId(now)]
  const { db } = app.database
  await db.run(sql`insert into organizations (id, name, created_at) values (${organizationId}, 'Other', ${now})`)
  await db.run(sql`insert into environments (id, organization_id, name, identifier, signing_secret, created_at)
                   values (${environmentId}, ${organizationId}, 'Elsewhere', 'elsewhere', ${Buffer.of(1)}, ${now})`)
  const list = await app.call('GET', '/v1/environments')
  assert.deepEqual(
    list.body.map((environment: { name: string }) => environment.name),
    ['Development', 'Production'],
  )
})

test('the signing secret is only for keys that may do everything', async () => {
  const { key } = await newKey(app, { scopes: ['read', 'trigger'] })
  const own = await app.call('GET', '/v1/environments/me', { key })
  assert.equal(own.status, 200)
  assert.equal('signingSecret' in own.body, false)
  assert.equal((await app.call('GET', '/v1/environments')).text.includes('signingSecret'), false)
})

test('the last key that may do everything cannot be revoked; lesser and expired keys do not count as others', async () => {
  const fresh = await createTestApp()
  try {
    const list = await fresh.call('GET', keysPath)
    const [only] = list.body.data
    assert.equal(list.body.totalCount, 1)
    await newKey(fresh, { scopes: ['read', 'trigger'] })
    await newKey(fresh, { expiresAt: new Date(fresh.world.now().getTime() + 10).toISOString() })
    fresh.world.advance(10)
    const refused = await fresh.call('DELETE', `${keysPath}/${only._id}`)
    assert.equal(refused.status, 409)
    fresh.world.advance(1000)
    assert.equal((await fresh.call('GET', keysPath)).status, 200, 'the refusal left the key as it was')
    const other = await newKey(fresh, {})
    assert.equal((await fresh.call('DELETE', `${keysPath}/${only._id}`)).status, 204)
    assert.equal((await fresh.call('GET', keysPath, { key: other.key })).status, 200)
    // The old key goes on for a day, and then there would be none.
    const rotated = await fresh.call('POST', `${keysPath}/${other._id}/rotate`, { key: other.key, body: {} })
    assert.equal(rotated.status, 201, rotated.text)
    const replacement = `${keysPath}/${rotated.body._id}`
    assert.equal((await fresh.call('DELETE', replacement, { key: other.key })).status, 409)
    await newKey(fresh, {}, rotated.body.key)
    assert.equal((await fresh.call('DELETE', replacement, { key: other.key })).status, 204)
  } finally {
    await fresh.close()
  }
})

test('of two last keys revoked at the same time, one stays', async () => {
  const fresh = await createTestApp()
  try {
    const [first] = (await fresh.call('GET', keysPath)).body.data
    const second = await newKey(fresh, {})
    const replies = await Promise.all([
      fresh.call('DELETE', `${keysPath}/${first._id}`),
      fresh.call('DELETE', `${keysPath}/${second._id}`),
    ])
    assert.deepEqual(replies.map((reply) => reply.status).sort(), [204, 409])
  } finally {
    await fresh.close()
  }
})

test('a lesser key can be revoked where no key may do everything', async () => {
  const fresh = await createTestApp()
  try {
    const { _id } = await newKey(fresh, { scopes: ['read'] }, fresh.productionKey)
    const { db } = fresh.database
    const environment = (await fresh.call('GET', '/v1/environments/me', { key: fresh.productionKey })).body
    await db.run(
      sql`update api_keys set revoked_at = ${fresh.world.now()} where hash = ${hashOfApiKey(fresh.productionKey)}`,
    )
    const of = { id: environment._id, organizationId: environment._organizationId, name: environment.name }
    const answer = await removeApiKey(db, fresh.world, of, { id: _id, author: testAuthor, idempotency: undefined })
    assert.equal(answer.status, 204)
  } finally {
    await fresh.close()
  }
})

test('a valid key is looked up about once a second, not once a call', async () => {
  const fresh = await createTestApp()
  try {
    const lookUps = countLookUps(fresh.database.db)
    for (let call = 0; call < 5; call += 1) await fresh.call('GET', '/v1/environments')
    assert.equal(lookUps.count, 1)
    fresh.world.advance(1000)
    for (let call = 0; call < 5; call += 1) await fresh.call('GET', '/v1/environments')
    assert.equal(lookUps.count, 2)
    for (let call = 0; call < 2; call += 1)
      await fresh.call('GET', '/v1/environments', { key: 'unknown-key-of-nobody' })
    assert.equal(lookUps.count, 3, 'an unknown key is remembered for a short time')
    fresh.world.advance(500)
    await fresh.call('GET', '/v1/environments', { key: 'unknown-key-of-nobody' })
    assert.equal(lookUps.count, 4, 'and no longer: it may be made meanwhile')
  } finally {
    await fresh.close()
  }
})

test('a revoked key stops within a second on every node', async () => {
  const first = await createTestApp()
  const second = await createTestApp({ nodeOf: first })
  try {
    const { _id, key } = await newKey(first, {})
    for (const node of [first, second]) assert.equal((await node.call('GET', '/v1/environments', { key })).status, 200)
    assert.equal((await first.call('DELETE', `${keysPath}/${_id}`)).status, 204)
    // Each node has just asked, so this is the longest a revoked key can live; a clock that is set back adds nothing.
    first.world.advance(-3_600_000)
    assert.equal((await first.call('GET', '/v1/environments', { key })).status, 401)
    first.world.advance(3_601_000)
    for (const node of [first, second]) {
      const reply = await node.call('GET', '/v1/environments', { key })
      assert.equal(reply.status, 401)
      assert.equal(reply.body.message, 'API Key not found')
    }
  } finally {
    await second.close()
    await first.close()
  }
})

function countLookUps(db: Sql): { readonly count: number } {
  const counted = { count: 0 }
  const rows = db.rows
  db.rows = async <Row extends object>(statement: Statement) => {
    if (statement.name === 'api-keys-principals') counted.count += 1
    return rows<Row>(statement)
  }
  return counted
}

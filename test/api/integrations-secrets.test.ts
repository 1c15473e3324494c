// Integrations over the API: who sees secrets, how they rest, and how much there may be.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { createApiKey } from '../../src/manage/operate/api-keys.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { createIntegration, sendgridBody } from '../support/integration-scene.ts'
import { testAuthor } from '../support/test-author.ts'

const path = '/v1/integrations'
const unknownId = '01890000-0000-7000-8000-000000000000'
let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

test('a key that may only read sees no secret, and changes nothing', async () => {
  const created = await createIntegration(app, {
    ...sendgridBody,
    credentials: { ...sendgridBody.credentials, password: 'of another form' },
    configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: 'signing-secret' },
  })
  const environment = { id: created._environmentId, organizationId: created._organizationId, name: 'Development' }
  const made = await createApiKey(app.database.db, app.world, environment, {
    key: { name: 'reader', scopes: ['read'] },
    author: testAuthor,
    idempotency: undefined,
  })
  const key = made.body.key
  const open = {
    ...created,
    credentials: { from: 'hello@example.com' },
    configurations: { inboundWebhookEnabled: true },
  }
  assert.deepEqual((await app.call('GET', `${path}/${created._id}`, { key })).body, open)
  const listed = await app.call('GET', path, { key })
  assert.deepEqual(
    listed.body.find((item: { _id: string }) => item._id === created._id),
    open,
  )
  assert.doesNotMatch(listed.text, /top-secret|signing-secret|of another form/)
  assert.equal((await app.call('POST', path, { key, body: sendgridBody })).status, 403)
  assert.equal((await app.call('PUT', `${path}/${created._id}`, { key, body: { name: 'x' } })).status, 403)
  assert.equal((await app.call('DELETE', `${path}/${created._id}`, { key })).status, 403)
  assert.equal((await app.call('POST', `${path}/${created._id}/set-primary`, { key })).status, 403)
  assert.deepEqual((await app.call('GET', `${path}/${created._id}`)).body, created)
})

test('credentials and the signing key are sealed at rest, and open in their own environment only', async () => {
  const { _id, _environmentId } = await createIntegration(app, {
    ...sendgridBody,
    configurations: { inboundWebhookSigningKey: 'plain-signing-key' },
  })
  const row = await app.database.db.row<{ credentials: Buffer; configurations: Buffer; whole: string }>(sql`
    select credentials, configurations, i::text as whole from integrations i where id = ${_id}`)
  assert.ok(row)
  for (const sealed of [row.credentials, row.configurations]) {
    assert.doesNotMatch(sealed.toString('latin1'), /top-secret|plain-signing-key|apiKey/)
  }
  assert.doesNotMatch(row.whole, /top-secret|plain-signing-key/)
  const { sealer } = app.world
  assert.match(sealer.open(_environmentId, 'integration-credentials', _id, row.credentials), /top-secret/)
  assert.throws(() => sealer.open(unknownId, 'integration-credentials', _id, row.credentials))
  assert.throws(() => sealer.open(_environmentId, 'integration-credentials', unknownId, row.credentials))
})

test('credentials and configurations have a size limit', async () => {
  const big = { tlsOptions: { ca: 'x'.repeat(70_000) } }
  const reply = await app.call('POST', path, {
    body: { ...sendgridBody, credentials: big, configurations: { retry: big } },
  })
  assert.equal(reply.status, 422)
  assert.deepEqual(Object.keys(reply.body.errors).sort(), ['configurations', 'credentials'])
})

test('an environment holds at most 500 integrations', async () => {
  const full = await createTestApp()
  try {
    const [{ _environmentId }] = (await full.call('GET', path)).body
    const { sealer, newId, now } = full.world
    const ids = Array.from({ length: 497 }, () => newId(now()))
    const sealed = ids.map((id) => sealer.seal(_environmentId, 'integration-credentials', id, '{}'))
    await full.database.db.run(sql`
      insert into integrations (environment_id, id, identifier, name, provider_id, channel, credentials, conditions, active,
                                is_primary, created_at, updated_at)
      select ${_environmentId}, filler.id, 'filler-' || filler.id, 'Filler', 'slack', 'chat', filler.credentials, '[]', false,
             false, now(), now()
      from unnest(${ids}::uuid[], ${sealed}::bytea[]) as filler (id, credentials)`)
    const reply = await full.call('POST', path, { body: sendgridBody })
    assert.equal(reply.status, 422)
    assert.match(reply.text, /500/)
    const { body: all } = await full.call('GET', path)
    assert.equal(all.length, 500)
    await full.call('DELETE', `${path}/${all[499]._id}`)
    assert.equal((await full.call('POST', path, { body: sendgridBody })).status, 201)
  } finally {
    await full.close()
  }
})

test('nothing of all this left a secret in the log', () => {
  assert.doesNotMatch(JSON.stringify(app.world.logged), /top-secret|signing/)
})

test('what is stored is what the provider approved: an account changed while it was asked is 409', async () => {
  const created = await createIntegration(app, { ...sendgridBody, name: 'Checked' })
  const at = `${path}/${created._id}`
  app.world.onFetch = async () => {
    app.world.advance(1)
    const other = { ...sendgridBody.credentials, apiKey: 'SG.another' }
    assert.equal((await app.call('PUT', at, { body: { credentials: other } })).status, 200)
    return { status: 200, headers: new Headers(), body: '{"scopes":["mail.send"]}' }
  }
  const reply = await app.call('PUT', at, { body: { check: true, active: true } })
  app.world.onFetch = undefined
  assert.equal(reply.status, 409)
  assert.match(reply.body.message, /was changed while its credentials were being verified/)
})

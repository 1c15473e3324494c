// Which integration of a channel is primary, as integrations come, change and go.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { createIntegration, sendgridBody, twilioBody } from '../support/integration-scene.ts'

const path = '/v1/integrations'
const condition = { isNegated: false, type: 'GROUP', value: 'AND', children: [] }
let whole: TestApp
/** As the key of an environment sees it that no other test uses. */
let app: TestApp
let environments = 0
before(async () => {
  whole = await createTestApp()
})
after(() => whole.close())
beforeEach(async () => {
  environments += 1
  const made = await whole.call('POST', '/v1/environments', { body: { name: `Test ${environments}` } })
  assert.equal(made.status, 201, made.text)
  app = asSeenBy(whole, made.body.apiKeys[0].key)
})

const asSeenBy = (seen: TestApp, key: string): TestApp => ({
  ...seen,
  developmentKey: key,
  call: (method, at, given = {}) => seen.call(method, at, { key, ...given }),
})

const put = (id: string, body: object) => app.call('PUT', `${path}/${id}`, { body })
const active = (body: object = {}): Promise<Json> => createIntegration(app, { ...sendgridBody, active: true, ...body })

async function builtIn(): Promise<Json> {
  return (await app.call('GET', path)).body.find((item: Json) => item.providerId === 'platform-email')
}

async function primaries(channel = 'email'): Promise<string[]> {
  const { body } = await app.call('GET', path)
  return body.filter((item: Json) => item.primary && item.channel === channel).map((item: Json) => item._id)
}

test('the first active integration of a real provider takes it from the built-in, the second does not', async () => {
  assert.deepEqual(await primaries(), [(await builtIn())._id])
  const inactive = await createIntegration(app, sendgridBody)
  assert.deepEqual(await primaries(), [(await builtIn())._id])
  const first = await active()
  assert.equal(first.primary, true)
  const second = await active()
  assert.equal(second.primary, false)
  assert.equal((await put(inactive._id, { active: true })).body.primary, false)
  assert.deepEqual(await primaries(), [first._id])
})

test('activating the first real provider makes it primary', async () => {
  const created = await createIntegration(app, sendgridBody)
  assert.equal((await put(created._id, { active: true })).body.primary, true)
  assert.deepEqual(await primaries(), [created._id])
})

test('when the primary is switched off the oldest real one follows, and at last the built-in', async () => {
  const [first, second, third] = [await active(), await active(), await active()]
  assert.equal((await put(first._id, { active: false })).body.primary, false)
  assert.deepEqual(await primaries(), [second._id])
  await put(second._id, { active: false })
  assert.deepEqual(await primaries(), [third._id])
  await put(third._id, { active: false })
  assert.deepEqual(await primaries(), [(await builtIn())._id])
  await put((await builtIn())._id, { active: false })
  assert.deepEqual(await primaries(), [])
  assert.equal((await put(third._id, { active: true })).body.primary, true)
})

test('when the primary is deleted the oldest real one follows, as the answer already shows', async () => {
  const [first, second] = [await active(), await active()]
  const { body } = await app.call('DELETE', `${path}/${first._id}`)
  assert.equal(body.find((item: Json) => item._id === second._id).primary, true)
  assert.deepEqual(await primaries(), [second._id])
})

test('an integration with conditions is not primary, and gives it up when it gets some', async () => {
  const conditional = await active({ conditions: [condition] })
  assert.equal(conditional.primary, false)
  assert.deepEqual(await primaries(), [(await builtIn())._id])
  const plain = await active()
  assert.equal(plain.primary, true)
  assert.equal((await put(plain._id, { conditions: [condition] })).body.primary, false)
  assert.deepEqual(await primaries(), [(await builtIn())._id])
  assert.equal((await put(conditional._id, { conditions: [] })).body.primary, true)
})

test('other changes leave the primary alone', async () => {
  const [first] = [await active(), await active()]
  await put(first._id, { name: 'Other', credentials: { apiKey: 'SG.other', from: 'a@b.c' } })
  assert.deepEqual(await primaries(), [first._id])
})

test('each channel has its own primary, and chat, push and in-app have none', async () => {
  const email = await active()
  const sms = await active(twilioBody)
  const chat = await createIntegration(app, { providerId: 'slack', channel: 'chat', active: true })
  assert.deepEqual(await primaries(), [email._id])
  assert.deepEqual(await primaries('sms'), [sms._id])
  assert.equal(chat.primary, false)
  const refused = await app.call('POST', `${path}/${chat._id}/set-primary`)
  assert.deepEqual([refused.status, refused.body.message], [400, 'Channel chat does not support primary'])
})

test('another environment’s primary is its own affair', async () => {
  const mine = await active()
  const theirs = await createIntegration(app, { ...sendgridBody, active: true }, app.productionKey)
  assert.equal(theirs.primary, true)
  assert.deepEqual(await primaries(), [mine._id])
})

test('set-primary activates, clears the conditions, and takes it from the one before', async () => {
  await active()
  const chosen = await createIntegration(app, { ...sendgridBody, conditions: [condition] })
  const reply = await app.call('POST', `${path}/${chosen._id}/set-primary`)
  assert.equal(reply.status, 200)
  assert.deepEqual([reply.body.primary, reply.body.active, reply.body.conditions], [true, true, []])
  assert.deepEqual(await primaries(), [chosen._id])
  app.world.advance(1000)
  const again = await app.call('POST', `${path}/${chosen._id}/set-primary`)
  assert.deepEqual(again.body, reply.body)
})

test('set-primary refuses an incomplete account and an unknown one', async () => {
  const first = await active()
  const incomplete = await createIntegration(app, { providerId: 'sendgrid', channel: 'email' })
  const reply = await app.call('POST', `${path}/${incomplete._id}/set-primary`)
  assert.equal(reply.status, 422)
  assert.deepEqual(Object.keys(reply.body.errors).sort(), ['credentials.apiKey', 'credentials.from'])
  assert.deepEqual(await primaries(), [first._id])
  assert.equal((await app.call('POST', `${path}/01890000-0000-7000-8000-000000000000/set-primary`)).status, 404)
})

test('a built-in that was chosen manually stays primary when a further provider comes', async () => {
  await active()
  const chosen = await builtIn()
  assert.equal((await app.call('POST', `${path}/${chosen._id}/set-primary`)).body.primary, true)
  await active()
  assert.deepEqual(await primaries(), [chosen._id])
})

test('calls at the same time, on two nodes, leave exactly one primary and all succeed', async () => {
  const other = await createTestApp({ nodeOf: whole })
  const node = asSeenBy(other, app.developmentKey)
  try {
    const creations = Array.from({ length: 12 }, (_, index) =>
      (index % 2 === 0 ? app : node).call('POST', path, {
        body: { ...(index % 3 === 0 ? twilioBody : sendgridBody), active: true, name: `N${index}` },
      }),
    )
    const created = await Promise.all(creations)
    assert.deepEqual(new Set(created.map((reply) => reply.status)), new Set([201]))
    assert.equal((await primaries()).length, 1)
    assert.equal((await primaries('sms')).length, 1)
    const changes = created.flatMap((reply, index) => {
      const caller = index % 2 === 0 ? node : app
      const at = `${path}/${reply.body._id}`
      return [
        caller.call('POST', `${at}/set-primary`),
        caller.call('PUT', at, { body: { active: false } }),
        caller.call('PUT', at, { body: { active: true } }),
      ]
    })
    assert.deepEqual(new Set((await Promise.all(changes)).map((reply) => reply.status)), new Set([200]))
    assert.equal((await primaries()).length, 1)
    assert.equal((await primaries('sms')).length, 1)
  } finally {
    await other.close()
  }
})

test('of two calls that create the in-app integration at once, one succeeds', async () => {
  const { body } = await app.call('GET', path)
  await app.call('DELETE', `${path}/${body[0]._id}`)
  const replies = await Promise.all(
    [1, 2, 3].map(() => app.call('POST', path, { body: { providerId: 'platform', channel: 'in_app', active: true } })),
  )
  assert.deepEqual(replies.map((reply) => reply.status).sort(), [201, 400, 400])
})

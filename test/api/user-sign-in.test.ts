// Signing in with a password: alike for everyone who may not, slower for whoever guesses, and changed by whoever knows it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { hashPassword, isOldHash } from '../../src/domain/operate/password.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp, quickPassword } from '../support/app.ts'
import type { Person } from '../support/user-scene.ts'
import { cookiesOf, dashboardHeader, goodPassword, sessionsPath, UserScene } from '../support/user-scene.ts'

let app: TestApp
let scene: UserScene
let ada: Person
before(async () => {
  app = await createTestApp()
  scene = new UserScene(app)
})
after(() => app.close())

const ways = async () => (await app.call('GET', '/v1/dashboard/sign-in', { key: null })).body

test('the page offers passwords once someone has one', async () => {
  const { link } = await scene.invited('ada@example.com', 'owner')
  assert.deepEqual(await ways(), { password: false, oidc: null })
  const reply = await scene.setPassword({ link, password: goodPassword })
  ada = scene.caller('', reply)
  assert.deepEqual(await ways(), { password: true, oidc: null })
  for (const cookie of [reply.headers['set-cookie'] ?? []].flat()) {
    assert.match(String(cookie), /; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/)
  }
})

test('the wrong password, an unknown address and one without a password are answered alike', async () => {
  await scene.invited('invited@example.com', 'owner')
  const replies = [
    await scene.signIn('ada@example.com', 'not the password'),
    await scene.signIn('unknown@example.com', 'not the password'),
    await scene.signIn('invited@example.com', 'not the password'),
  ]
  for (const reply of replies) {
    assert.equal(reply.status, 401)
    assert.equal(reply.body.message, 'The e-mail address or the password is wrong')
    assert.deepEqual(Object.keys(reply.headers), Object.keys(replies[0]?.headers ?? {}))
    assert.ok(!reply.text.includes('not the password'))
  }
})

test('calls need the header of our own pages, and one way to sign in', async () => {
  const body = { email: 'ada@example.com', password: goodPassword }
  const call = (given: object, headers: Record<string, string> = dashboardHeader) =>
    app.call('POST', sessionsPath, { key: null, body: given, headers })
  assert.equal((await call(body, {})).status, 403)
  assert.equal((await call(body, { ...dashboardHeader, 'sec-fetch-site': 'cross-site' })).status, 403)
  assert.equal((await call({ ...body, apiKey: app.developmentKey })).status, 422)
  assert.equal((await call({ email: body.email })).status, 422)
  assert.equal((await call({ password: body.password })).status, 422)
  const long = await call({ ...body, password: 'secret-'.repeat(40) })
  assert.equal(long.status, 422)
  assert.ok(!long.text.includes('secret-'))
})

test('signing out ends the sessions at the service, in every environment', async () => {
  const reply = await scene.signIn('ada@example.com')
  const person = scene.caller('', reply)
  const cookie = [...cookiesOf(reply).values()].join('; ')
  const left = await app.call('DELETE', sessionsPath, { key: null, headers: { ...dashboardHeader, cookie } })
  assert.equal(left.status, 204)
  for (const environmentId of person.cookies.keys()) {
    assert.equal((await person.call('GET', '/v1/feeds', { environmentId })).status, 401)
  }
})

test('whoever knows the password changes it, which ends all other sessions', async () => {
  const change = { email: 'ada@example.com', currentPassword: goodPassword, password: 'my newest passphrase' }
  assert.equal((await scene.setPassword({ ...change, currentPassword: 'wrong' })).status, 401)
  assert.equal((await scene.setPassword({ ...change, password: 'short' })).status, 422)
  assert.equal((await scene.setPassword({ ...change, link: 'x' })).status, 422)
  const changed = await scene.setPassword(change)
  assert.equal(changed.status, 201)
  assert.equal((await ada.call('GET', '/v1/feeds')).status, 401)
  assert.equal((await scene.caller('', changed).call('GET', '/v1/feeds')).status, 200)
  assert.equal((await scene.signIn('ada@example.com')).status, 401)
})

test('a password that was hashed at another cost opens, and is hashed again', async () => {
  const { db } = app.database
  const old = await hashPassword(goodPassword, { rounds: 512, blockSize: 8, repeats: 1 })
  await db.run(sql`update users set password_hash = ${old} where email = 'ada@example.com'`)
  assert.equal((await scene.signIn('ada@example.com')).status, 201)
  const row = await db.row<{ hash: string }>(
    sql`select password_hash as hash from users where email = 'ada@example.com'`,
  )
  assert.equal(isOldHash(row?.hash ?? '', quickPassword), false)
  assert.equal((await scene.signIn('ada@example.com')).status, 201)
})

test('who guesses at one account is refused before the password is looked at, and it opens again with time', async () => {
  const guess = (email: string) => scene.signIn(email, 'a guess')
  // Cheap, since nothing is checked of an account that is refused.
  for (const email of ['ada@example.com', 'unknown-too@example.com']) {
    let statuses: number[] = []
    for (let tries = 0; tries < 12; tries += 1) statuses = [...statuses, (await guess(email)).status]
    assert.deepEqual(statuses.slice(-1), [429], `${email}: ${statuses}`)
  }
  const right = await scene.signIn('ada@example.com')
  assert.equal(right.status, 429, 'the right password is not looked at either')
  assert.equal(right.headers['retry-after'], '30')
  app.world.advance(30_000)
  assert.equal((await scene.signIn('ada@example.com')).status, 201)
})

test('who guesses from one address is refused, whatever the account', async () => {
  let last = 0
  for (let tries = 0; tries < 70 && last !== 429; tries += 1) {
    const body = { link: `${crypto.randomUUID()}.${tries}`, password: goodPassword }
    last = (await scene.setPassword(body)).status
  }
  assert.equal(last, 429)
  assert.equal((await scene.signIn('ada@example.com')).status, 429)
  app.world.advance(5_000)
  assert.equal((await scene.signIn('ada@example.com')).status, 201)
})

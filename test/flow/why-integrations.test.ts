// Why, asked of integrations: which one sent it, and why none of the others did.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript } from '../support/flow-scene.ts'
import { whyOf } from '../support/why-scene.ts'
import { condition, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())
beforeEach(async () => {
  await mail?.clear()
  mail = new MailScript(scene)
})

const newSubscriber = () => ({ subscriberId: fresh('person'), email: `${fresh('ada')}@example.org` })
const onPlan = (plan: string) => ({ conditions: [condition(plan)] })

async function notified(more: object = {}, steps: readonly object[] = [email('Hello')]): Promise<Json> {
  return scene.run(await scene.workflow(steps), newSubscriber(), { payload: { plan: 'gold' }, ...more })
}

/** What is said of each account, by the name it has here. */
async function verdicts(notification: Json, ...names: string[]): Promise<Record<string, string | undefined>> {
  const reported: Json[] = (await whyOf(scene, notification)).steps[0].integrations
  for (const { sentence } of reported) assert.match(sentence, /^[A-Z].*\.$/)
  const byIdentifier = new Map(reported.map(({ identifier, verdict }) => [identifier, verdict]))
  return Object.fromEntries(names.map((name) => [name, byIdentifier.get(mail.identifier(name))]))
}

test('the primary one was chosen, the others are not primary, switched off or of other conditions', async () => {
  await mail.account('other')
  await mail.account('off', { active: false })
  await mail.account('tin', onPlan('tin'))
  const id = await mail.account('main')
  await scene.expect(200, 'POST', `/v1/integrations/${id}/set-primary`)
  const expected = { main: 'chosen', other: 'notPrimary', off: 'inactive', tin: 'conditionsNotMet' }
  const reported = await verdicts(await notified(), 'main', 'other', 'off', 'tin')
  assert.deepEqual(reported, expected)
})

test('one whose conditions fit goes before all others, and the older of two such', async () => {
  await mail.account('plain')
  await mail.account('gold', onPlan('gold'))
  await mail.account('newer', onPlan('gold'))
  const reported = await verdicts(await notified(), 'gold', 'plain', 'newer')
  assert.deepEqual(reported, { gold: 'chosen', plain: 'conditionsOfAnother', newer: 'anotherFirst' })
})

test('one that could not send it is reported as tried, and the one that took over as chosen', async () => {
  await mail.account('first')
  await mail.account('second')
  mail.answers('first', 401)
  assert.deepEqual(await verdicts(await notified(), 'first', 'second'), { first: 'triedBefore', second: 'chosen' })
})

test('an event that asks for one passes over the others; where that one is off, no one was chosen', async () => {
  await mail.account('first')
  await mail.account('asked')
  await mail.account('off', { active: false })
  const asking = (name: string) => ({ overrides: { email: { integrationIdentifier: mail.identifier(name) } } })
  const reported = await verdicts(await notified(asking('asked')), 'asked', 'first')
  assert.deepEqual(reported, { asked: 'chosen', first: 'anotherWished' })
  const none = await verdicts(await notified(asking('off')), 'off', 'first')
  assert.deepEqual(none, { off: 'inactive', first: 'anotherWished' })
})

test('what was made or changed later is not judged by what it is now', async () => {
  await mail.account('main')
  const id = await mail.account('moved')
  const notification = await notified()
  app.world.advance(1_000)
  await mail.account('late')
  await scene.expect(200, 'PUT', `/v1/integrations/${id}`, { name: 'Other' })
  const reported = await verdicts(notification, 'main', 'moved', 'late')
  assert.deepEqual(reported, { main: 'chosen', moved: 'changedSince', late: 'madeLater' })
})

test('where the chosen one was changed since, no one guesses why the others were passed over', async () => {
  const id = await mail.account('main')
  await mail.account('other')
  await mail.account('tin', onPlan('tin'))
  const notification = await notified()
  app.world.advance(1_000)
  await scene.expect(200, 'PUT', `/v1/integrations/${id}`, { name: 'Other' })
  const reported = await verdicts(notification, 'main', 'other', 'tin')
  assert.deepEqual(reported, { main: 'chosen', other: 'unclear', tin: 'unclear' })
})

test('where no one was chosen, the conditions of each did not fit', async () => {
  const listed: Json[] = await scene.expect(200, 'GET', '/v1/integrations')
  const [kept] = listed.filter(({ providerId }) => providerId === 'platform-email')
  await scene.expect(200, 'PUT', `/v1/integrations/${kept?._id}`, { active: false })
  try {
    await mail.account('tin', onPlan('tin'))
    assert.deepEqual(await verdicts(await notified(), 'tin'), { tin: 'conditionsNotMet' })
  } finally {
    await scene.expect(200, 'PUT', `/v1/integrations/${kept?._id}`, { active: true })
  }
})

test('if no integration was looked for, none is listed', async () => {
  await mail.account('main')
  const reported = await whyOf(
    scene,
    await notified({}, [inApp('Bell'), email('Hello', { filters: [condition('tin')] })]),
  )
  assert.deepEqual(
    reported.steps.map(({ integrations }: Json) => integrations),
    [undefined, undefined],
  )
})

test('integrations of another environment are not listed', async () => {
  await mail.account('main')
  const [{ id = '' } = {}] = await scene.rows(sql`select id from environments where name = 'Production'`)
  const elsewhere = await scene.rows(
    sql`select identifier from integrations where environment_id = ${id} and channel = 'email'`,
  )
  assert.ok(elsewhere.length > 0)
  const reported: Json[] = (await whyOf(scene, await notified())).steps[0].integrations
  const own = await scene.expect(200, 'GET', '/v1/integrations')
  const known = new Set(own.map(({ identifier }: Json) => identifier))
  assert.ok(reported.every(({ identifier }) => known.has(identifier)))
})

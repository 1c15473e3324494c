// What an answer of a simulation may hold, and what of it a key that only reads is shown.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { readUnsubscribeToken } from '../../src/domain/preferences/unsubscribe-token.ts'
import { readEvent } from '../../src/http/request/event-request.ts'
import { createSigningSecrets } from '../../src/run/cache/signing-secrets.ts'
import { createSimulator } from '../../src/simulate/simulate.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { worldClock } from '../support/pipeline.ts'
import { condition, delay, digest, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const path = '/v1/events/simulate'
const person = (more: object = {}): Json => {
  const subscriberId = fresh('person')
  return { subscriberId, email: `${subscriberId}@example.org`, ...more }
}

test('contents beyond what an answer holds are left out, and what would be done is reported all the same', async () => {
  const long = {
    template: { type: 'email', subject: 'Long', contentType: 'customHtml', content: '<p>{{ payload.text }}</p>' },
  }
  const name = await scene.workflow([long, inApp('x', { filters: [condition('gold')] }), inApp('Short')])
  const payload = { text: 'a '.repeat(150_000), plan: 'tin' }
  const reply = await app.call('POST', path, {
    body: { name, to: Array.from({ length: 30 }, () => person()), payload },
  })
  assert.equal(reply.status, 200)
  assert.ok(reply.text.length < 9_000_000, `${reply.text.length} characters`)
  const { recipients } = reply.body
  const mails = recipients.map(({ steps }: Json) => steps[0].messages[0])
  assert.equal(mails[0].contentOmitted, undefined)
  assert.equal(mails[0].subject, 'Long')
  assert.deepEqual(Object.keys(mails.at(-1)), ['channel', 'integration', 'contentOmitted'])
  assert.equal(mails.at(-1).contentOmitted, true)
  const [mail, skipped, bell] = recipients.at(-1).steps
  assert.deepEqual([mail.outcome, skipped.outcome, bell.outcome], ['run', 'skip', 'run'])
  assert.deepEqual(skipped.reasons[0].data, {})
  assert.equal(mail.sentence, 'Would be sent through platform-email (integration platform-email).')
})

test('timestamps at the ends of the calendar are timestamps', async () => {
  const name = await scene.workflow([delay(), digest(), inApp('{{ "now" | date: "%Y" }}')])
  for (const at of ['1970-01-01T00:00:00Z', '9999-12-31T23:59:59Z']) {
    const answer = await scene.expect(200, 'POST', path, { name, to: person(), at })
    assert.equal(answer.recipients[0].steps.at(-1).outcome, 'run')
  }
  await scene.expect(422, 'POST', path, { name, to: person(), at: '1970-01-01T00:00:00+01:00' })
})

test('a key that only reads is not shown what is as good as a right to send', async () => {
  const { key } = await scene.expect(201, 'POST', '/v1/environments/api-keys', { name: 'reader', scopes: ['read'] })
  const webhook = { providerId: 'push-webhook', channel: 'push', active: true, check: false }
  const credentials = { webhookUrl: 'https://push.example.com/in', secretKey: 'secret' }
  await scene.expect(201, 'POST', '/v1/integrations', { ...webhook, credentials })
  await scene.expect(201, 'POST', '/v1/integrations', {
    ...{ providerId: 'slack', channel: 'chat', active: true, check: false },
    credentials: {},
  })
  const to = person()
  await scene.expect(201, 'POST', '/v2/subscribers', to)
  for (const entry of [
    { providerId: 'push-webhook', credentials: { deviceTokens: ['token-of-a-phone'] } },
    { providerId: 'slack', credentials: { webhookUrl: 'https://hooks.example.com/secret-place' } },
  ]) {
    await scene.expect(200, 'PUT', `/v1/subscribers/${to.subscriberId}/credentials`, entry)
  }
  const name = await scene.workflow([
    { template: { type: 'push', title: 'Title', content: 'Push' } },
    { template: { type: 'chat', content: 'Chat' } },
  ])
  const secrets = /token-of-a-phone|secret-place/g
  const body = { name, to: to.subscriberId }
  const whole = await app.call('POST', path, { body })
  assert.deepEqual(whole.text.match(secrets), ['token-of-a-phone', 'secret-place'])
  const part = await app.call('POST', path, { body, key })
  assert.equal(part.status, 200)
  assert.equal(part.text.match(secrets), null)
  const [push] = part.body.recipients[0].steps[0].messages
  assert.deepEqual([push.title, push.envelope.content], ['Title', 'Push'])
})

test('links that unsubscribe work for those who may unsubscribe others', async () => {
  const [environment] = (await scene.rows(sql`
    select id, organization_id as "organizationId", name from environments where name = 'Development'`)) as Environment[]
  assert.ok(environment !== undefined)
  const name = await scene.workflow([email('Mail')])
  const { db } = app.database
  const simulator = createSimulator({
    db,
    world: app.world,
    queueClock: worldClock(app.world),
    linkBase: 'https://posthorn.example.org',
  })
  const secret = await createSigningSecrets(app.world).of(db, environment)
  const worksFor = async (showsSecrets: boolean): Promise<boolean | undefined> => {
    const event = readEvent({ name, to: person(), payload: {} })
    const { recipients } = await simulator.simulate(environment, { event, showsSecrets })
    const { headers } = recipients[0]?.steps[0]?.messages[0]?.envelope ?? assert.fail('nothing would be sent')
    const token = /\/([\w-]+)>$/.exec((headers as Json)['List-Unsubscribe'])?.[1] ?? ''
    return readUnsubscribeToken(token)?.isSignedWith(secret.tokenKey('unsubscribe'))
  }
  assert.equal(await worksFor(true), true)
  assert.equal(await worksFor(false), false)
})

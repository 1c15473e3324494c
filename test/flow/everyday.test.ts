// Fourteen everyday scenarios over real HTTP, as someone who tries the service meets them; only the clock is ours.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, MailScript, statuses } from '../support/flow-scene.ts'
import { PostmarkScript } from '../support/postmark-script.ts'
import { delay, digest, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
/** What no call may carry: everything these scenarios send is known. */
const warned: string[] = []

before(async () => {
  app = await createTestApp()
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.app.server.address() as AddressInfo
  const call: TestApp['call'] = async (method, path, { body, headers, key = app.developmentKey } = {}) => {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `ApiKey ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await reply.text()
    const warnings = reply.headers.get('posthorn-warnings')
    if (warnings !== null) warned.push(`${method} ${path}: ${warnings}`)
    const isJson = /\bjson/.test(reply.headers.get('content-type') ?? '')
    const parsed: Json = isJson && text !== '' ? JSON.parse(text) : undefined
    return { status: reply.status, headers: Object.fromEntries(reply.headers), body: parsed, text } as TestReply
  }
  scene = new FlowScene({ ...app, call })
})
after(() => app.close())

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const captured = async (query: string): Promise<Json[]> => (await scene.expect(200, 'GET', `/v1/outbox?${query}`)).data
const patchPreferences = (subscriberId: string, body: Json): Promise<Json> =>
  scene.expect(200, 'PATCH', `/v2/subscribers/${subscriberId}/preferences`, body)

test('1. a first message: a workflow, a trigger, the feed and the captured mail', async () => {
  const name = await scene.workflow([inApp('Order {{ payload.orderId }} is on its way'), email()])
  await scene.run(name, { subscriberId: 'ada', email: 'ada@example.org' }, { payload: { orderId: 7 } })
  assert.deepEqual(await scene.texts('ada'), ['Order 7 is on its way'])
  const [mail] = await captured('recipient=ada@example.org')
  assert.equal(mail?.subject, 'Order 7')
})

test('2. a digest: three events, one message', async () => {
  const name = await scene.workflow([digest(), inApp('{{ step.total_count }} comments')])
  for (const n of [1, 2, 3]) await scene.trigger(name, 'digested', { payload: { n } })
  await scene.work()
  assert.deepEqual(await scene.texts('digested'), [])
  await scene.advance(6 * minuteMs)
  assert.deepEqual(await scene.texts('digested'), ['3 comments'])
})

test('3. a delay: later, and not before', async () => {
  const name = await scene.workflow([delay(), inApp('How was it?')])
  await scene.run(name, 'delayed')
  await scene.advance(hourMs)
  assert.deepEqual(await scene.texts('delayed'), [])
  await scene.advance(hourMs)
  assert.deepEqual(await scene.texts('delayed'), ['How was it?'])
})

test('4. a preference: who switched a channel off is reached by the others', async () => {
  const name = await scene.workflow([inApp('News'), email('News')])
  await scene.subscribers('choosy')
  await patchPreferences('choosy', { channels: { email: false } })
  assert.deepEqual(statuses(await scene.run(name, 'choosy')), ['completed', 'skipped'])
})

test('5. quiet hours: held until they are over', async () => {
  const name = await scene.workflow([email('Quiet')])
  await scene.subscribers('sleeper')
  const day = (hours: Json) => ({ isEnabled: true, hours })
  const { hour, week } = openInAnHour(app.world.now())
  await patchPreferences('sleeper', {
    schedule: {
      isEnabled: true,
      outside: 'hold',
      weeklySchedule: Object.fromEntries(week.map((one) => [one, day(hour)])),
    },
  })
  const { transactionId } = await scene.run(name, 'sleeper')
  assert.equal((await captured('recipient=sleeper@example.org')).length, 0)
  await scene.advance(2 * hourMs, 10 * minuteMs)
  assert.equal((await captured('recipient=sleeper@example.org')).length, 1)
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed'])
})

/** Hours that begin after the next full hour, every day, written as people do. */
function openInAnHour(now: Date): { hour: Json; week: string[] } {
  const start = (now.getUTCHours() + 1) % 24
  const shown = (hour: number): string => `${hour % 12 === 0 ? 12 : hour % 12}${hour < 12 ? 'am' : 'pm'}`
  const week = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
  return { hour: [{ start: shown(start), end: shown((start + 3) % 24) }], week }
}

test('6. a topic: everyone in it, once, without a word about its type', async () => {
  await scene.subscribers('one', 'two')
  await scene.topic('release-notes', ['one', 'two'])
  const name = await scene.workflow([inApp('Released')])
  await scene.trigger(name, [{ topicKey: 'release-notes' }, 'one'])
  await scene.work()
  assert.deepEqual([await scene.texts('one'), await scene.texts('two')], [['Released'], ['Released']])
})

test('7. a tenant and a context: templates know both, and lists can ask for them', async () => {
  await scene.expect(201, 'POST', '/v1/tenants', { identifier: 'acme', name: 'Acme' })
  const name = await scene.workflow([inApp('{{ tenant.name }}, {{ context.team.data.lead }}')])
  const context = { team: { id: 'red', data: { lead: 'Grace' } } }
  await scene.run(name, 'tenanted', { tenant: 'acme', context })
  assert.deepEqual(await scene.texts('tenanted'), ['Acme, Grace'])
  const found = await scene.expect(200, 'GET', '/v1/messages?contextKeys=team:red')
  assert.equal(found.data.length, 1)
})

test('8. a layout and translations: the frame around a text in the language of each', async () => {
  await scene.expect(200, 'PUT', '/v1/translations/en', { texts: { hi: 'Hello {name}' } })
  await scene.expect(200, 'PUT', '/v1/translations/de', { texts: { hi: 'Hallo {name}' } })
  await scene.expect(201, 'POST', '/v1/layouts', {
    ...{ name: 'Brand', identifier: 'brand', content: '<html lang="{{ lang }}"><main>{{{body}}}</main></html>' },
  })
  const content = "<p>{{ 'hi' | t: name: subscriber.firstName }}</p>"
  const template = { type: 'email', subject: 's', contentType: 'customHtml', content, layoutId: 'brand' }
  const name = await scene.workflow([{ template }])
  for (const [locale, says] of [
    ['de', /<html lang="de"><main><p>Hallo Jo/],
    ['pt', /<html lang="en"><main><p>Hello Jo/],
  ] as const) {
    const address = `${locale}@example.org`
    await scene.run(name, { subscriberId: locale, email: address, firstName: 'Jo', locale })
    const [found] = await captured(`recipient=${address}`)
    assert.match((await scene.expect(200, 'GET', `/v1/outbox/${found?._id}`)).message.html, says)
  }
})

test('9. failover: the next account takes over', async () => {
  const mail = new MailScript(scene)
  await mail.account('first')
  await mail.account('second')
  mail.answers('first', 401)
  const name = await scene.workflow([email('Hello')])
  const run = await scene.run(name, { subscriberId: 'over', email: 'over@example.org' })
  assert.deepEqual(mail.accounts(), ['first', 'second'])
  assert.deepEqual(statuses(run), ['completed'])
  await mail.clear()
})

test('10. a bounce: the message is an error, and the address is not written to again', async () => {
  const postmark = new PostmarkScript(scene)
  await postmark.account()
  const name = await scene.workflow([email('Hello')])
  const to = { subscriberId: 'bounced', email: 'bounced@example.org' }
  const { transactionId } = await scene.run(name, to)
  const { identifier: MessageID } = await scene.message(transactionId)
  await postmark.reports({ RecordType: 'Bounce', Type: 'HardBounce', MessageID, Email: to.email })
  assert.equal((await scene.message(transactionId)).status, 'error')
  assert.deepEqual(statuses(await scene.run(name, to)), ['skipped'])
  await postmark.remove()
})

test('11. cancel: what waits never comes', async () => {
  const name = await scene.workflow([delay(), inApp('Too late')])
  const { transactionId } = await scene.run(name, 'canceled')
  assert.equal(await scene.expect(200, 'DELETE', `/v1/events/trigger/${transactionId}`), true)
  await scene.advance(3 * hourMs)
  assert.deepEqual(await scene.texts('canceled'), [])
})

test('12. retract and redrive: taken back from the feed, and sent again where it failed', async () => {
  const shown = await scene.run(await scene.workflow([inApp('Oops')]), 'retracted')
  await scene.expect(200, 'POST', `/v1/notifications/${shown._id}/retract`)
  assert.deepEqual(await scene.texts('retracted'), [])
  const mail = new MailScript(scene)
  await mail.account('wrong')
  mail.answers('wrong', 401, 202)
  const failed = await scene.run(await scene.workflow([email('Again')]), { subscriberId: 'f', email: 'f@example.org' })
  assert.deepEqual(statuses(failed), ['failed'])
  await scene.expect(202, 'POST', `/v1/notifications/${failed._id}/redrive`)
  await scene.work()
  assert.deepEqual(statuses(await scene.notification(failed.transactionId)), ['completed'])
  await mail.clear()
})

test('13. why: each step says in a sentence what became of it', async () => {
  const name = await scene.workflow([email('News'), inApp('News')])
  const run = await scene.run(name, 'without-address')
  const why = await scene.expect(200, 'GET', `/v1/notifications/${run._id}/why`)
  assert.deepEqual(
    why.steps.map(({ status }: Json) => status),
    ['skipped', 'completed'],
  )
  assert.match(why.steps[0].sentence, /address/)
})

test('14. simulate: what a trigger would do, and nothing of it done', async () => {
  const name = await scene.workflow([delay(), inApp('Hello {{ subscriber.firstName }}')])
  const to = { subscriberId: 'imagined', firstName: 'Jo' }
  const { recipients } = await scene.expect(200, 'POST', '/v1/events/simulate', { name, to })
  assert.deepEqual(
    recipients[0].steps.map(({ outcome }: Json) => outcome),
    ['wait', 'run'],
  )
  assert.equal(recipients[0].steps[1].messages[0].content, 'Hello Jo')
  await scene.expect(404, 'GET', '/v2/subscribers/imagined')
})

test('none of these calls carried anything that is not known', () => {
  assert.deepEqual(warned, [])
})

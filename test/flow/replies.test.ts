// Answers to e-mails: where they are asked for, that they reach the step's callback, signed and once.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { OutboundAnswer } from '../../src/world/world.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, reported } from '../support/flow-scene.ts'
import { PostmarkScript } from '../support/postmark-script.ts'
import { eventually } from '../support/service.ts'
import { email } from '../support/workflow-scene.ts'

interface Handed {
  readonly url: string
  readonly headers: Headers
  readonly body: string
}

let app: TestApp
let scene: FlowScene
let postmark: PostmarkScript
let handed: Handed[]
let status: number
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())
beforeEach(async () => {
  handed = []
  status = 200
  postmark = new PostmarkScript(scene)
  await postmark.account({ inboundParseDomain: 'parse.example.com' })
  postmark.elsewhere = async (request): Promise<OutboundAnswer> => {
    handed.push({ url: request.url, headers: request.headers, body: await request.text() })
    return { status, headers: new Headers(), body: '{}' }
  }
})
afterEach(() => postmark.remove())

const callback = { replyCallback: { active: true, url: 'https://app.example.com/replies' } }

async function sent(step: object = callback, more: object = {}) {
  const workflow = await scene.workflow([{ ...email('Question'), ...step }])
  const person = { subscriberId: fresh('person'), email: `${fresh('ada')}@example.org` }
  const notification = await scene.run(workflow, person, { payload: { order: 7 }, ...more })
  const mail = postmark.calls.at(-1)?.mails[0]
  return { workflow, person, notification, replyTo: mail?.ReplyTo as string | undefined }
}

const reply = (to: string, more: object = {}) => ({
  FromFull: { Email: 'ada@example.org' },
  ToFull: [{ Email: to }],
  OriginalRecipient: to,
  Subject: 'Re: Question',
  TextBody: 'Yes, please',
  HtmlBody: '<p>Yes, please</p>',
  Headers: [{ Name: 'Message-ID', Value: '<first@example.org>' }],
  Attachments: [{ Name: 'a.txt', ContentType: 'text/plain', Content: 'SGk=' }],
  ...more,
})

test('an answer reaches the callback as a signed call that says what was answered', async () => {
  const { workflow, person, notification, replyTo } = await sent()
  assert.match(replyTo ?? '', /^reply\+[0-9a-f]{52}@parse\.example\.com$/)
  await postmark.reports(reply(replyTo ?? ''))
  await scene.work()
  assert.equal(handed.length, 1)
  const [{ url, headers, body }] = handed as [Handed]
  assert.equal(url, 'https://app.example.com/replies')
  const said = JSON.parse(body)
  assert.deepEqual(
    [said.transactionId, said.payload, said.templateIdentifier, said.subscriber.subscriberId, said.notification._id],
    [notification.transactionId, { order: 7 }, workflow, person.subscriberId, notification._id],
  )
  assert.deepEqual(
    [said.mail.from, said.mail.text, said.mail.attachments[0].content],
    ['ada@example.org', 'Yes, please', 'SGk='],
  )
  const { signingSecret } = (await scene.expect(200, 'GET', '/v1/environments/me')) as Json
  const [, seconds, signature] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(headers.get('x-posthorn-signature') ?? '') ?? []
  assert.equal(signature, createHmac('sha256', signingSecret).update(`${seconds}.${body}`).digest('hex'))
  const { jobs } = await scene.notification(notification.transactionId)
  assert.deepEqual(reported(jobs[0]).slice(-2), [
    ['Inbound mail - Reply received', 'Success'],
    ['Inbound mail - Reply handed to its callback', 'Success'],
  ])
})

test('a mail that comes twice is handed on once; another one is another', async () => {
  const { replyTo = '' } = await sent()
  await postmark.reports(reply(replyTo))
  await postmark.reports(reply(replyTo))
  await scene.work()
  assert.equal(handed.length, 1)
  await postmark.reports(reply(replyTo, { Headers: [{ Name: 'Message-ID', Value: '<second@example.org>' }] }))
  await scene.work()
  assert.equal(handed.length, 2)
})

test('an unavailable callback is called again with the same key; a rejection is reported', async () => {
  const { replyTo = '', notification } = await sent()
  status = 503
  await postmark.reports(reply(replyTo))
  await scene.work()
  status = 200
  await scene.advance(600_000, 1_000)
  assert.equal(handed.length, 2)
  assert.equal(new Set(handed.map(({ headers }) => headers.get('idempotency-key'))).size, 1)
  assert.deepEqual([...new Set(handed.map(({ body }) => JSON.parse(body).mail.text))], ['Yes, please'])
  status = 410
  await postmark.reports(reply(replyTo, { Headers: [{ Name: 'Message-ID', Value: '<second@example.org>' }] }))
  await scene.work()
  const { jobs } = await scene.notification(notification.transactionId)
  assert.deepEqual(reported(jobs[0]).at(-1), ['Inbound mail - Reply callback failed', 'Failed'])
})

test('an address that was made up, or a mail to someone else, reaches no one', async () => {
  const { replyTo = '' } = await sent()
  for (const to of [replyTo.replace(/.@/, '0@').replace(/^(reply\+.)./, '$1e'), 'help@parse.example.com']) {
    assert.deepEqual(await postmark.reports(reply(to)), [])
  }
  await scene.work()
  assert.equal(handed.length, 0)
})

test('without a callback, or with an address for answers of the caller’s own, mail asks for answers there or nowhere', async () => {
  assert.equal((await sent({})).replyTo, undefined)
  const own = await sent(callback, { overrides: { email: { replyTo: 'help@example.com' } } })
  assert.equal(own.replyTo, 'help@example.com')
})

test('where no domain receives mail, the job says so and the mail is sent all the same', async () => {
  await postmark.remove()
  await postmark.account()
  const { replyTo, notification } = await sent()
  assert.equal(replyTo, undefined)
  assert.deepEqual(
    reported(notification.jobs[0]).find(([detail]) => detail.startsWith('Inbound mail')),
    ['Inbound mail - Missing MX route domain configuration', 'Warning'],
  )
  assert.equal(notification.jobs[0].status, 'completed')
})

const mailNo = (number: number): object => ({ Headers: [{ Name: 'Message-ID', Value: `<${number}@example.org>` }] })

test('callbacks that take their time keep no audience waiting', async () => {
  const { replyTo = '' } = await sent()
  const subscriberId = fresh('person')
  await scene.subscribers(subscriberId)
  const topic = fresh('topic')
  await scene.topic(topic, [subscriberId])
  let answer = (): void => {}
  const patience = new Promise<void>((resolve) => {
    answer = resolve
  })
  const callbackOf = postmark.elsewhere
  postmark.elsewhere = async (request) => {
    await patience
    return callbackOf?.(request) as Promise<OutboundAnswer>
  }
  for (let number = 0; number < 5; number += 1) await postmark.reports(reply(replyTo, mailNo(number)))
  const workflow = await scene.workflow([{ template: { type: 'in_app', content: 'Hello' } }])
  const transactionId = await scene.trigger(workflow, [{ type: 'Topic', topicKey: topic }])
  const working = scene.work()
  const isThere = async (): Promise<boolean> => (await scene.notifications(transactionId)).length === 1
  await eventually(isThere).catch(() => {})
  const wasThere = await isThere()
  const before = handed.length
  answer()
  await working
  assert.deepEqual([wasThere, before, handed.length], [true, 0, 5])
})

test('a message may be answered many times, and no more; reports of copies do not count', async () => {
  const { replyTo = '', notification } = await sent()
  const copies = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`delivered copy${n}@example.org`, '']))
  await scene.rows(sql`
    update messages set receipts = ${JSON.stringify(copies)}::jsonb where notification_id = ${notification._id}`)
  for (let number = 0; number < 52; number += 1) await postmark.reports(reply(replyTo, mailNo(number)))
  await scene.work()
  assert.equal(handed.length, 50)
})

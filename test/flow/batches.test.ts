// Many messages in one request: where a provider takes many at once, each still has its own outcome.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { PostmarkScript } from '../support/postmark-script.ts'
import { email } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let postmark: PostmarkScript
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())
beforeEach(async () => {
  postmark = new PostmarkScript(scene)
  await postmark.account()
})
afterEach(() => postmark.remove())

/** Triggers one event a person in one call, and runs all that is due. */
async function notifyPeople(count: number, more: object = {}): Promise<{ transactionIds: string[]; people: string[] }> {
  const workflow = await scene.workflow([email('Hello {{ payload.number }}')])
  const people = Array.from({ length: count }, () => fresh('person'))
  const events = people.map((subscriberId, number) => ({
    name: workflow,
    to: { subscriberId, email: `${subscriberId}@example.org` },
    payload: { number },
    ...more,
  }))
  const results = await scene.results(events)
  await scene.work()
  return { transactionIds: results.map(({ transactionId }: Json) => transactionId), people }
}

const statusesOf = (transactionIds: readonly string[]): Promise<string[]> =>
  Promise.all(transactionIds.map(async (id) => (await scene.message(id)).status))

test('messages that are due together go in one request, each with its own words and its own id', async () => {
  const { transactionIds, people } = await notifyPeople(40)
  assert.deepEqual(
    postmark.calls.map(({ path, mails }) => [path, mails.length]),
    [['/email/batch', 40]],
  )
  const mails = postmark.calls[0]?.mails ?? []
  assert.deepEqual(
    mails.map((mail) => [mail.To, mail.Subject]).sort(),
    people.map((person, number) => [`${person}@example.org`, `Hello ${number}`]).sort(),
  )
  const messages = await Promise.all(transactionIds.map((id) => scene.message(id)))
  assert.deepEqual([...new Set(messages.map((message) => message.status))], ['sent'])
  assert.equal(new Set(messages.map((message) => message.identifier)).size, 40)
})

test('a message alone goes by itself', async () => {
  await notifyPeople(1)
  assert.deepEqual(
    postmark.calls.map(({ path }) => path),
    ['/email'],
  )
})

test('a message rejected within a request is rejected alone; one without a result is unsure and repeated', async () => {
  postmark.answer = ({ mails }) =>
    mails.length === 1
      ? undefined
      : mails.map((mail) => {
          if (mail.Subject === 'Hello 1') return { ErrorCode: 300, Message: 'Invalid email request' }
          return mail.Subject === 'Hello 2' ? {} : { ErrorCode: 0, Message: 'OK', MessageID: `ok-${mail.Subject}` }
        })
  const { transactionIds } = await notifyPeople(3)
  const statuses = await statusesOf(transactionIds)
  assert.equal(statuses.filter((status) => status === 'sent').length, 1)
  await scene.advance(3_600_000, 20_000)
  const after = await statusesOf(transactionIds)
  assert.deepEqual(after.sort(), ['error', 'sent', 'sent'], 'the third was repeated, alone')
})

test('a request that fails whole is repeated whole, and no one is lost', async () => {
  let fails = true
  postmark.answer = () => (fails ? 'cut' : undefined)
  const { transactionIds } = await notifyPeople(5)
  assert.equal(postmark.calls.length, 1)
  fails = false
  await scene.advance(3_600_000, 20_000)
  assert.deepEqual([...new Set(await statusesOf(transactionIds))], ['sent'])
  assert.equal(
    postmark.calls.slice(1).reduce((sum, { mails }) => sum + mails.length, 0),
    5,
    'each was repeated once',
  )
})

test('a message with additions to the request, or with files, goes alone', async () => {
  const passthrough = { overrides: { providers: { postmark: { _passthrough: { body: { TrackOpens: true } } } } } }
  await notifyPeople(3, passthrough)
  assert.deepEqual(
    postmark.calls.map(({ path, mails }) => [path, mails[0].TrackOpens]),
    Array.from({ length: 3 }, () => ['/email', true]),
  )
  postmark.calls.length = 0
  const file = { name: 'a.txt', mime: 'text/plain', file: Buffer.from('Hi').toString('base64') }
  await notifyPeople(2, { payload: { attachments: [file] } })
  assert.deepEqual(
    postmark.calls.map(({ path, mails }) => [path, mails[0].Attachments.length]),
    Array.from({ length: 2 }, () => ['/email', 1]),
  )
})

test('where a request is refused whole for one message in it, only that one is refused in the end', async () => {
  const refusal = { ErrorCode: 300, Message: 'Invalid email request' }
  postmark.answer = ({ path, mails }) => {
    if (path === '/email/batch') return mails.map(() => refusal)
    return mails[0].Subject === 'Hello 3' ? refusal : undefined
  }
  const { transactionIds } = await notifyPeople(6)
  await scene.advance(60_000, 1_000)
  assert.deepEqual((await statusesOf(transactionIds)).sort(), ['error', ...Array(5).fill('sent')])
  assert.deepEqual(
    postmark.calls.map(({ mails }) => mails.length),
    [6, 1, 1, 1, 1, 1, 1],
  )
})

// kill -9 in the middle of sending and of recording: what was begun counts as perhaps sent and is repeated as its channel allows; what was not is sent once.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { SMTPServer } from 'smtp-server'
import { sql } from '../../src/db/sql.ts'
import type { Json } from '../support/app.ts'
import type { FaultNode, Sink } from '../support/fault-scene.ts'
import {
  completed,
  detailsOf,
  FaultScene,
  makeIntegration,
  makeWorkflow,
  startSink,
  trigger,
} from '../support/fault-scene.ts'
import { eventually } from '../support/service.ts'
import { delay, email, inApp } from '../support/workflow-scene.ts'

/** How many calls a node makes at once to one integration. */
const slots = 50

/** A mail server that takes each mail whole and says nothing until a test lets it answer. */
class SilentMailServer {
  readonly ids: string[] = []
  /** Says nothing until this is set. */
  answers = false
  readonly #server = new SMTPServer({
    authOptional: true,
    logger: false,
    disableReverseLookup: true,
    closeTimeout: 100,
    onData: (stream, _session, answer) => {
      let raw = ''
      stream.on('data', (chunk: Buffer) => {
        raw += chunk.toString('utf8')
      })
      stream.on('end', () => {
        this.ids.push(/^Message-ID: (.*)\r$/im.exec(raw)?.[1] ?? '')
        if (this.answers) answer()
      })
    },
  })

  async listen(): Promise<number> {
    this.#server.on('error', () => {})
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return (this.#server.server.address() as AddressInfo).port
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}

let scene: FaultScene
let node: FaultNode
let sink: Sink
const mail = new SilentMailServer()
before(async () => {
  scene = await FaultScene.create()
  sink = await startSink(scene)
  scene.onClose(() => mail.close())
  node = await scene.start('first')
  await makeIntegration(node, 'webhook', 'email-webhook', { webhookUrl: sink.url, secretKey: 'secret' })
  await makeIntegration(node, 'smtp', 'nodemailer', {
    host: '127.0.0.1',
    port: String(await mail.listen()),
    from: 'hello@example.com',
    ignoreTls: true,
  })
  await makeWorkflow(node, 'mail', [email('Mail {{ payload.number }}'), inApp('After mail {{ payload.number }}')])
  await makeWorkflow(node, 'later', [
    delay({ metadata: { type: 'regular', amount: 3, unit: 'seconds' } }),
    inApp('Later'),
  ])
})
after(() => scene.close())

const mailsOf = (name: string, count: number, integrationIdentifier: string) =>
  Array.from({ length: count }, (_, index) => ({
    name: 'mail',
    to: { subscriberId: `${name}-${index}`, email: `${name}-${index}@example.org` },
    payload: { number: `${name}-${index}` },
    overrides: { email: { integrationIdentifier } },
    transactionId: `${name}-${index}`,
  }))

async function restart(name: string): Promise<void> {
  await node.kill()
  await scene.gone(node)
  node = await scene.start(name)
}

interface SentMail {
  readonly id: string
  readonly status: string
  readonly error: string | null
  readonly transactionId: string
}

function messagesOf(name: string, channel = 'email'): Promise<SentMail[]> {
  return scene.rows(sql`
    select m.id, m.status, m.error_text as error, e.transaction_id as "transactionId"
    from messages m join events e on e.id = m.event_id
    where e.transaction_id like ${`${name}-%`} and m.channel = ${channel} order by e.seq`)
}

/** What is reported after the message was made: words, status and whether it is a repeat. */
const afterwards = (details: readonly Json[]) =>
  details
    .slice(1 + details.findIndex(({ detail }) => detail === 'Message created'))
    // The time of the next try differs from run to run.
    .map(({ detail, status, isRetry }) => [detail.replace(/ at \d{4}-.*$/, ''), status, isRetry])

const once = [['Message sent', 'Success', false]]
const repeated = [
  ['Unexpected provider error', 'Warning', true],
  ['The message will be tried again', 'Queued', true],
  ['Message sent', 'Success', true],
]

test('calls under way are repeated with their keys and reported as repeats; messages not yet begun are sent once', async () => {
  sink.hold()
  const events = mailsOf('web', slots + 10, 'webhook')
  await trigger(node, [
    ...events,
    ...mailsOf('smtp', 1, 'smtp'),
    { name: 'later', to: 'patient', transactionId: 'later-0' },
  ])
  await eventually(async () => sink.keys.length === slots && mail.ids.length === 1)
  // Of those without a slot nothing is written but that they wait.
  const written = sql`select count(*) as count from messages where channel = 'email'`
  assert.equal(await scene.count(written), slots + 1)
  const begun = new Set(sink.keys)
  await node.kill()
  assert.equal(sink.keys.length, slots, 'no more than the slots were begun')
  sink.release()
  await restart('second')
  await completed(
    node,
    events.map((event) => event.transactionId),
  )
  const times = sink.timesSeen()
  const messages = await messagesOf('web')
  assert.equal(messages.length, slots + 10)
  for (const { id, status, error } of messages) {
    assert.deepEqual([times.get(id), status, error], [begun.has(id) ? 2 : 1, 'sent', null])
  }
  assert.equal(times.size, slots + 10)
  for (const wasBegun of [true, false]) {
    const one = messages.find(({ id }) => begun.has(id) === wasBegun) ?? assert.fail('there is none')
    const [mailed = [], followed = []] = await detailsOf(node, one.transactionId)
    assert.deepEqual(afterwards(mailed), wasBegun ? repeated : once)
    assert.deepEqual(afterwards(followed), once)
  }
  assert.equal((await messagesOf('web', 'in_app')).length, slots + 10, 'what follows is done once')
})

test('a delay continues after the kill, and ends neither early nor twice', async () => {
  await completed(node, ['later-0'])
  const [reported] = await scene.rows(sql`
    select count(*) as count, min(extract(epoch from m.created_at - e.created_at))::float8 as seconds
    from messages m join events e on e.id = m.event_id where e.transaction_id = 'later-0'`)
  assert.equal(reported.count, 1)
  assert.ok(reported.seconds >= 3, `${reported.seconds} s`)
})

test('a mail whose server took it and said nothing before each kill is repeated until an answer comes', async () => {
  await eventually(async () => mail.ids.length === 2)
  mail.answers = true
  await restart('third')
  await completed(node, ['smtp-0'])
  assert.deepEqual([mail.ids.length, new Set(mail.ids).size], [3, 1], 'the same mail each time')
  const [message] = await messagesOf('smtp')
  assert.deepEqual([message?.status, message?.error], ['sent', null])
  const [mailed = [], followed = []] = await detailsOf(node, 'smtp-0')
  assert.deepEqual(afterwards(mailed), [...repeated.slice(0, 2), ...repeated])
  assert.deepEqual(afterwards(followed), once)
})

test('killed while outcomes are written: what the database acknowledged stands, the rest is repeated as perhaps sent', async () => {
  const events = mailsOf('torn', 4, 'webhook')
  const stall = await scene.stall({ on: 'messages', event: 'update', node: node.name })
  await trigger(node, events)
  await stall.reached()
  await eventually(async () => new Set(sink.keys.slice(-4)).size === 4)
  await node.kill()
  await stall.release()
  await restart('fourth')
  await completed(
    node,
    events.map((event) => event.transactionId),
  )
  const messages = await messagesOf('torn')
  const times = sink.timesSeen()
  assert.deepEqual(
    messages.map(({ status, error }) => [status, error]),
    events.map(() => ['sent', null]),
  )
  // An outcome is one statement: the server ends it and keeps it, though no one waits for its answer any more.
  for (const { id, transactionId } of messages) {
    const [mailed = [], followed = []] = await detailsOf(node, transactionId)
    assert.deepEqual(afterwards(mailed), times.get(id) === 2 ? repeated : once, `seen ${times.get(id)} times`)
    assert.deepEqual(afterwards(followed), once)
  }
})

test('killed within the commit of an outcome, it stands: nothing is repeated, and the next step runs once', async () => {
  const events = mailsOf('kept', 1, 'webhook')
  const stall = await scene.stall({ on: 'messages', event: 'update', inCommit: true, node: node.name })
  await trigger(node, events)
  await stall.reached()
  await node.kill()
  await stall.release()
  await restart('fifth')
  await completed(node, ['kept-0'])
  const [message] = await messagesOf('kept')
  assert.deepEqual([message?.status, sink.timesSeen().get(message?.id ?? '')], ['sent', 1])
  const [mailed = [], followed = []] = await detailsOf(node, 'kept-0')
  assert.deepEqual([afterwards(mailed), afterwards(followed)], [once, once])
})

// Mail by SMTP: a message is marked as being called when its content leaves, not while it waits for a connection.
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import type { TestPipeline } from '../support/pipeline.ts'
import { createTestPipeline } from '../support/pipeline.ts'
import { polite, startScript } from '../support/smtp-script.ts'
import { email } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())
beforeEach(async () => {
  await scene.rows(sql`update jobs set due_at = null, lease = null where due_at is not null`)
})

const people = (count: number): Json[] =>
  Array.from({ length: count }, () => ({ subscriberId: fresh('person'), email: `${fresh('ada')}@example.org` }))
const nodeWith = (port: string): TestPipeline =>
  createTestPipeline(app.database.db, app.world, {
    operatorMail: { host: '127.0.0.1', port, from: 'hello@example.com', ignoreTls: true },
  })

const states = async (transactionId: string): Promise<Record<string, number>> => {
  const rows = await scene.rows(sql`
    select state, count(*) as count from messages
    where event_id = (select id from events where transaction_id = ${transactionId}) group by state`)
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

async function soon(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < 30_000; looks += 1) {
    if (await isTrue()) return
    await new Promise(setImmediate)
    await scene.rows(sql`select 1`)
  }
  assert.fail('it did not come true')
}

/** Answers politely; the content and its dot as the test wants. */
function mailServer(onData: (socket: Socket) => void, onDot: (socket: Socket, to: string) => void) {
  const reading = new Set<Socket>()
  const recipients = new Map<Socket, string>()
  return (line: string, socket: Socket): void => {
    const to = /^RCPT TO:<(.*?)>/.exec(line)?.[1]
    if (to !== undefined) recipients.set(socket, to)
    if (reading.has(socket)) {
      if (line !== '.') return
      reading.delete(socket)
      onDot(socket, recipients.get(socket) ?? '')
    } else if (line === 'DATA') {
      reading.add(socket)
      onData(socket)
    } else polite(line, socket)
  }
}

/** Takes every mail, and notes to whom. */
const takingServer = (t: TestContext, sent: string[]): Promise<string> =>
  startScript(
    t,
    mailServer(
      (socket) => void socket.write('354 go on\r\n'),
      (socket, address) => {
        sent.push(address)
        socket.write('250 taken\r\n')
      },
    ),
  )

/** As many as SMTP accounts have connections. */
const connections = 5

test('messages that wait for a connection, or for the go-ahead, are ready; only content on its way is perhaps sent', async (t) => {
  const waiting: Socket[] = []
  const dots: Socket[] = []
  const port = await startScript(
    t,
    mailServer(
      (socket) => void waiting.push(socket),
      (socket) => void dots.push(socket),
    ),
  )
  const to = people(12)
  const transactionId = await scene.trigger(await scene.workflow([email('Hello')]), to)
  const dying = nodeWith(port)
  dying.work().catch(() => {})
  await soon(() => waiting.length === connections)
  const before = await states(transactionId)
  assert.equal(before['calling'] ?? 0, 0, JSON.stringify(before))
  for (const socket of waiting.splice(0)) socket.write('354 go on\r\n')
  await soon(() => dots.length === connections)
  assert.equal((await states(transactionId))['calling'], connections)
  await dying.died()

  const sent: string[] = []
  const good = await takingServer(t, sent)
  const node = nodeWith(good)
  await node.work()
  await node.advance(60_000, 1_000)
  assert.deepEqual(sent.sort(), to.map((one) => one.email).sort(), 'each of them once by the second server')
  assert.equal((await scene.progress(transactionId)).counts.byOutcome.completed, 12)
  const attempts = await scene.rows(sql`
    select distinct (sending->>'attempts')::int as attempts from messages
    where event_id = (select id from events where transaction_id = ${transactionId})`)
  assert.deepEqual(attempts, [{ attempts: 1 }])
})

test('mail of a node that died while it waited for a connection is sent by the next, at once', async (t) => {
  let greeted = 0
  const silent = await startScript(t, () => {
    greeted += 1
  })
  const to = people(12)
  const transactionId = await scene.trigger(await scene.workflow([email('Hello')]), to)
  const dying = nodeWith(silent)
  dying.work().catch(() => {})
  await soon(() => greeted === connections)
  await dying.died()
  await scene.rows(sql`
    update jobs set lease = null, due_at = ${app.world.now()}, interruptions = 1 where due_at is not null`)

  const sent: string[] = []
  const good = await takingServer(t, sent)
  const node = nodeWith(good)
  await node.work()
  assert.deepEqual(sent.sort(), to.map((one) => one.email).sort())
  assert.equal((await scene.progress(transactionId)).counts.byOutcome.completed, 12)
})

test('mail that waits long for its connection uses up no attempt: all of it is sent', async (t) => {
  let taken = 0
  const port = await startScript(
    t,
    mailServer(
      (socket) => void socket.write('354 go on\r\n'),
      (socket) => {
        taken += 1
        // Each takes four seconds of the service's time.
        app.world.advance(4_000)
        socket.write('250 taken\r\n')
      },
    ),
  )
  const transactionId = await scene.trigger(await scene.workflow([email('Hello')]), people(60))
  const node = nodeWith(port)
  await node.work()
  await node.advance(600_000, 5_000)
  assert.equal(taken, 60)
  assert.equal((await scene.progress(transactionId)).counts.byOutcome.completed, 60)
})

test('a server that defers is shown with the time of the next try', async (t) => {
  let deferrals = 0
  const port = await startScript(
    t,
    mailServer(
      (socket) => void socket.write('354 go on\r\n'),
      (socket) => {
        deferrals += 1
        socket.write(deferrals === 1 ? '451 try again later\r\n' : '250 taken\r\n')
      },
    ),
  )
  const transactionId = await scene.trigger(await scene.workflow([email('Hello')]), people(1))
  const node = nodeWith(port)
  await node.work()
  const { jobs } = await scene.notification(transactionId)
  const last = jobs[0].executionDetails.at(-1)
  const { nextAttemptAt } = JSON.parse(last.raw)
  assert.equal(last.detail, `The message will be tried again at ${nextAttemptAt}`)
  assert.ok(Date.parse(nextAttemptAt) > app.world.now().getTime())
  await node.advance(Date.parse(nextAttemptAt) - app.world.now().getTime())
  assert.equal((await scene.message(transactionId)).status, 'sent')
})

// Files that come with an event: sent with its e-mails, kept apart, and swept when the run is over.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { sweep } from '../../src/manage/operate/housekeeping.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript } from '../support/flow-scene.ts'
import { email } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
let workflow: string
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  mail = new MailScript(scene)
  workflow = await scene.workflow([email('Files')])
})
after(() => app.close())

const account = fresh('mail')
const hourMs = 60 * 60_000
const file = Buffer.from('hello').toString('base64')
const attachments = [
  { file, name: 'hello.txt', mime: 'text/plain' },
  { file, name: 'not-for-mail.txt', mime: 'text/plain', channels: ['chat'] },
]

const stored = (): Promise<Json[]> => scene.rows(sql`select event_id from attachments`)

test('a file travels with the e-mail, and neither the event nor the message keeps it', async () => {
  await mail.account(account)
  const person = fresh('person')
  await scene.subscribers(person)
  const { transactionId } = await scene.run(workflow, person, { payload: { n: 1, attachments } })
  const body = JSON.parse(mail.asked[0]?.body ?? '{}')
  assert.deepEqual(
    body.attachments.map(({ filename, content, type }: Json) => [filename, content, type]),
    [['hello.txt', file, 'text/plain']],
  )
  const [event] = await scene.rows(sql`select payload, attachments from events where transaction_id = ${transactionId}`)
  assert.equal(event?.attachments, 2)
  assert.equal(JSON.stringify(event?.payload).includes(file), false)
  const [message] = await scene.rows(sql`select envelope::text as envelope from messages where state = 'done'`)
  assert.equal(message?.envelope.includes(file), false)
})

test('an hour after all went well the files are swept, after a failure not for a week', async () => {
  await sweep(app.database.db, app.world)
  assert.equal((await stored()).length, 2, 'too early')
  app.world.advance(hourMs + 1)
  await sweep(app.database.db, app.world)
  assert.deepEqual(await stored(), [])
  const person = fresh('person')
  await scene.subscribers(person)
  mail.answers(account, 400)
  await scene.run(workflow, person, { payload: { attachments } })
  app.world.advance(24 * hourMs)
  await sweep(app.database.db, app.world)
  const before = (await stored()).length
  app.world.advance(7 * 24 * hourMs)
  await sweep(app.database.db, app.world)
  assert.deepEqual([before > 0, (await stored()).length], [true, 0])
})

test('a file that is none costs its event, and no other', async () => {
  const person = fresh('person')
  const results = await scene.results([
    { name: workflow, to: person, payload: { attachments: [{ file: 'no base64!' }] } },
    { name: workflow, to: person },
  ])
  assert.deepEqual(
    results.map((result) => result.status),
    ['error', 'processed'],
  )
  assert.match(results[0]?.error[0], /payload: attachments\.0: file must be base64/)
})

// A captured e-mail as a file: it parses back to what would have been sent, with its files, for as long as it is kept.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { sweep } from '../../src/manage/operate/housekeeping.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { mailStep, OutboxScene } from '../support/outbox-scene.ts'

let app: TestApp
let scene: OutboxScene
let workflow: string
before(async () => {
  app = await createTestApp()
  scene = new OutboxScene(app)
  workflow = await scene.workflow([mailStep('Grüße {{ payload.n }}', '<p>Thank you: Grüße</p><img src="cid:logo">')])
})
after(() => app.close())

interface MailPart {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly parts: readonly MailPart[]
}

/** As RFC 5322 and 2045 say, as far as our own files go. */
function parsed(raw: string): MailPart {
  const [head = '', ...rest] = raw.split('\r\n\r\n')
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      decodedWords(line.slice(line.indexOf(':') + 2)),
    ]),
  )
  const body = rest.join('\r\n\r\n')
  const boundary = /boundary="([^"]+)"/.exec(headers['content-type'] ?? '')?.[1]
  const parts =
    boundary === undefined
      ? []
      : body
          .split(`--${boundary}`)
          .slice(1, -1)
          .map((part) => parsed(part.replace(/^\r\n/, '').replace(/\r\n$/, '')))
  return { headers, body: decoded(body, headers['content-transfer-encoding']), parts }
}

const decodedWords = (value: string): string =>
  value.replace(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi, (_, encoding: string, text: string) =>
    (encoding.toUpperCase() === 'B' ? Buffer.from(text, 'base64') : quoted(text.replaceAll('_', ' '))).toString(),
  )

function decoded(body: string, encoding = '7bit'): Buffer {
  if (encoding === 'base64') return Buffer.from(body, 'base64')
  return encoding === 'quoted-printable' ? quoted(body.replace(/=\r\n/g, '')) : Buffer.from(body)
}

const quoted = (text: string): Buffer =>
  Buffer.from(
    text.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )

const leaves = (part: MailPart): MailPart[] => (part.parts.length === 0 ? [part] : part.parts.flatMap(leaves))
const typeOf = ({ headers }: MailPart): string => (headers['content-type'] ?? '').split(';')[0] ?? ''

async function emlOf(query: Record<string, string>): Promise<MailPart> {
  const { _id } = await scene.newest(query)
  const reply = await scene.get(`/${_id}/eml`)
  assert.equal(reply.status, 200, reply.text)
  assert.match(String(reply.headers['content-type']), /^message\/rfc822/)
  assert.equal(reply.headers['content-disposition'], `attachment; filename="${_id}.eml"`)
  return parsed(reply.text)
}

const invoice = Buffer.from([0, 1, 2, 253, 254, 255])
const attachments = [
  { file: invoice.toString('base64'), name: 'Rechnung.bin', mime: 'application/octet-stream' },
  {
    file: Buffer.from('<svg/>').toString('base64'),
    name: 'logo.svg',
    mime: 'image/svg+xml',
    cid: 'logo',
    disposition: 'inline',
  },
  { file: Buffer.from('chat').toString('base64'), name: 'chat.txt', mime: 'text/plain', channels: ['chat'] },
]

test('the file holds headers, text, HTML and attachments as they would have been sent', async () => {
  const person = await scene.person()
  const overrides = {
    email: {
      from: 'shop@example.com',
      senderName: 'Die Läden',
      cc: ['copy@example.org'],
      bcc: ['blind@example.org'],
      replyTo: 'answers@example.com',
      headers: { 'X-Order': '9' },
    },
  }
  await scene.run(workflow, person, { payload: { n: 9, attachments }, overrides })
  const mail = await emlOf({ recipient: person })
  const { headers } = mail
  assert.equal(headers['subject'], 'Grüße 9')
  assert.equal(headers['from'], 'Die Läden <shop@example.com>')
  assert.deepEqual([headers['to'], headers['cc']], [`${person}@example.org`, 'copy@example.org'])
  assert.deepEqual([headers['reply-to'], headers['x-order'], headers['bcc']], ['answers@example.com', '9', undefined])
  const shown = await scene.newest({ recipient: person })
  assert.equal(headers['message-id'], `<${shown._id}@example.com>`)
  assert.equal(Date.parse(headers['date'] ?? ''), Math.floor(Date.parse(shown.capturedAt) / 1000) * 1000)
  const parts = leaves(mail)
  assert.deepEqual(parts.map(typeOf).sort(), ['application/octet-stream', 'image/svg+xml', 'text/html', 'text/plain'])
  const part = (type: string): MailPart => parts.find((one) => typeOf(one) === type) ?? assert.fail(type)
  assert.equal(part('text/plain').body.toString(), shown.message.text)
  assert.equal(part('text/html').body.toString(), shown.message.html)
  assert.deepEqual(part('application/octet-stream').body, invoice)
  assert.equal(part('image/svg+xml').headers['content-id'], '<logo>')
  assert.equal(part('image/svg+xml').body.toString(), '<svg/>')
  assert.deepEqual(
    shown.attachments.map(({ name, mime, bytes }: Json) => [name, mime, bytes]),
    [
      ['Rechnung.bin', 'application/octet-stream', 6],
      ['logo.svg', 'image/svg+xml', 6],
    ],
  )
})

test('without a sender it is from no one, and what a vendor would refuse can be looked at', async () => {
  const person = await scene.person()
  await scene.run(workflow, person, { payload: { n: 1 } })
  assert.equal((await emlOf({ recipient: person })).headers['from'], 'no-reply@outbox.invalid')
  const account = await scene.integration({
    providerId: 'sendgrid',
    channel: 'email',
    credentials: { from: 'no address' },
    configurations: { capture: true },
  })
  await scene.run(workflow, person, { payload: { n: 2 } })
  const odd = await emlOf({ recipient: person })
  await scene.expect(200, 'DELETE', `/v1/integrations/${account._id}`)
  assert.deepEqual([odd.headers['subject'], odd.headers['to']], ['Grüße 2', `${person}@example.org`])
})

test('files are kept as long as their message is in the outbox, and swept after it', async () => {
  const person = await scene.person()
  const files = async (): Promise<number> => (await scene.rows(sql`select 1 from attachments`)).length
  await scene.expect(200, 'DELETE', '/v1/outbox')
  app.world.advance(2 * 60 * 60_000)
  await sweep(app.database.db, app.world)
  assert.equal(await files(), 0)
  await scene.run(workflow, person, { payload: { attachments } })
  app.world.advance(24 * 60 * 60_000)
  await sweep(app.database.db, app.world)
  assert.equal(await files(), 3)
  assert.equal(leaves(await emlOf({ recipient: person })).length, 4)
  await scene.expect(200, 'DELETE', `/v1/outbox?recipient=${person}`)
  await sweep(app.database.db, app.world)
  assert.equal(await files(), 0)
})

// Custom SMTP: sending, against a real server.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { after, test } from 'node:test'
import type { Outcome } from '../../src/domain/delivery/outcome.ts'
import type { EmailMessage } from '../../src/domain/messages/outbound-message.ts'
import { nodemailer } from '../../src/providers/email/nodemailer.ts'
import { closeSmtpPools } from '../../src/providers/email/smtp.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { email, emailMessage, reply, startMailServer } from '../support/outbound-scene.ts'
import { makeCertificates } from '../support/tls-front.ts'

after(() => closeSmtpPools())

async function send(credentials: object, change: Partial<EmailMessage> = {}): Promise<Outcome> {
  const account = { host: '127.0.0.1', from: 'hello@example.com', ignoreTls: true, ...credentials }
  const outcome = await nodemailer.send?.(createFakeWorld(), email(change), account)
  assert.ok(outcome)
  return outcome
}

const headersOf = (raw: string): string => raw.slice(0, raw.indexOf('\r\n\r\n'))
const headerOf = (raw: string, name: string): string | undefined =>
  new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(headersOf(raw))?.[1]

test('a message arrives whole: sender, recipients, subject, both parts, and an id of ours', async (t) => {
  const { port, mails } = await startMailServer(t)
  const outcome = await send(
    { port, senderName: 'Acme' },
    { replyTo: 'help@example.com', headers: { 'X-Kind': 'invoice' } },
  )
  const id = `<${emailMessage.id}@example.com>`
  assert.deepEqual(outcome, { kind: 'sent', providerMessageId: id })
  const [mail] = mails
  assert.ok(mail)
  assert.equal(mail.from, 'hello@example.com')
  assert.deepEqual(mail.recipients, ['zoe@example.org'])
  assert.equal(headerOf(mail.raw, 'Message-ID'), id)
  assert.equal(headerOf(mail.raw, 'From'), 'Acme <hello@example.com>')
  assert.equal(headerOf(mail.raw, 'To'), 'zoe@example.org')
  assert.equal(headerOf(mail.raw, 'Reply-To'), 'help@example.com')
  assert.equal(headerOf(mail.raw, 'Subject'), 'Invoice 7')
  assert.equal(headerOf(mail.raw, 'X-Kind'), 'invoice')
  assert.equal(headerOf(mail.raw, 'Date'), 'Fri, 02 Jan 2026 03:04:05 +0000')
  assert.match(headerOf(mail.raw, 'Content-Type') ?? '', /^multipart\/alternative/)
  const plain = mail.raw.indexOf('text/plain')
  assert.ok(plain !== -1 && plain < mail.raw.indexOf('text/html'), 'text comes before HTML')
})

test('each recipient is notified to the server once, and blind copies stand in no header', async (t) => {
  const { port, mails } = await startMailServer(t)
  await send(
    { port },
    {
      to: ['zoe@example.org', 'yan@example.org'],
      cc: ['amy@example.org', 'ZOE@example.org'],
      bcc: ['ben@example.org', 'amy@example.org'],
    },
  )
  assert.deepEqual(mails[0]?.recipients, ['zoe@example.org', 'yan@example.org', 'amy@example.org', 'ben@example.org'])
  assert.equal(headerOf(mails[0]?.raw ?? '', 'Cc'), 'amy@example.org')
  assert.doesNotMatch(mails[0]?.raw ?? '', /bcc|ben@/i)
})

test('names, subjects and bodies keep every letter', async (t) => {
  const { port, mails } = await startMailServer(t)
  await send({ port, senderName: 'Größe, Inc.' }, { subject: 'Привет 🎺', text: 'Grüße 🎺', html: '' })
  const raw = mails[0]?.raw ?? ''
  assert.match(headerOf(raw, 'Subject') ?? '', /^=\?UTF-8\?/)
  assert.equal(decodedWords(headerOf(raw, 'Subject') ?? ''), 'Привет 🎺')
  assert.equal(decodedWords(headerOf(raw, 'From') ?? ''), 'Größe, Inc. <hello@example.com>')
  assert.match(headerOf(raw, 'Content-Type') ?? '', /^text\/plain; charset=utf-8$/)
  const body = raw.slice(raw.indexOf('\r\n\r\n') + 4)
  const decoded =
    headerOf(raw, 'Content-Transfer-Encoding') === 'base64'
      ? Buffer.from(body, 'base64').toString('utf8')
      : Buffer.from(
          body.replaceAll(/=([0-9A-F]{2})/g, (_all, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
          'latin1',
        ).toString('utf8')
  assert.equal(decoded.trim(), 'Grüße 🎺')
})

function decodedWords(header: string): string {
  return header
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=/gi, (_all, how: string, text: string) =>
      how.toUpperCase() === 'B'
        ? Buffer.from(text, 'base64').toString('latin1')
        : text
            .replaceAll('_', ' ')
            .replaceAll(/=([0-9A-F]{2})/gi, (_hex, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    )
    .replace(/^.*$/s, (bytes) => Buffer.from(bytes, 'latin1').toString('utf8'))
}

test('attachments arrive byte for byte, one that stands in the HTML beside it', async (t) => {
  const { port, mails } = await startMailServer(t)
  const bytes = Buffer.from(Array.from({ length: 3000 }, (_item, index) => index % 256))
  await send(
    { port },
    {
      html: '<img src="cid:logo">',
      attachments: [
        { name: 'terms ü.pdf', mime: 'application/pdf', content: bytes.toString('base64') },
        { name: 'logo.png', mime: 'image/png', content: bytes.toString('base64'), cid: 'logo', disposition: 'inline' },
      ],
    },
  )
  const raw = mails[0]?.raw ?? ''
  assert.match(headerOf(raw, 'Content-Type') ?? '', /^multipart\/mixed/)
  assert.match(raw, /Content-Id: <logo>/i)
  assert.match(raw, /Content-Disposition: inline/)
  assert.match(raw, /filename\*0?\*?=utf-8''terms%20%C3%BC\.pdf/i)
  assert.equal(raw.replaceAll('\r\n', '').split(bytes.toString('base64')).length, 3, 'both hold the bytes')
})

test('lines that begin with a dot, and a dot alone, arrive as they were written', async (t) => {
  const { port, mails } = await startMailServer(t)
  await send({ port }, { html: '', text: 'first\n.\n..two\n.three\nlast' })
  assert.match(mails[0]?.raw ?? '', /first\r\n\.\r\n\.\.two\r\n\.three\r\nlast/)
})

test('nothing of a message can add a header, a recipient or a command', async (t) => {
  const { port, mails, sockets } = await startMailServer(t)
  const evil = 'x\r\nBcc: eve@example.org'
  const attempts: Partial<EmailMessage>[] = [
    { subject: evil },
    { senderName: evil },
    { from: `a@b.c\r\nBcc: eve@example.org` },
    { replyTo: `a@b.c>\r\nBcc: eve@example.org` },
    { to: ['zoe@example.org>\r\nRCPT TO:<eve@example.org'] },
    { cc: ['Zoe <zoe@example.org>, eve@example.org'] },
    { headers: { 'X-Kind': evil } },
    { headers: { 'X-Kind: y\r\nBcc': 'eve@example.org' } },
    { headers: { Bcc: 'eve@example.org' } },
    { headers: { 'content-type': 'text/html' } },
    { attachments: [{ name: evil, mime: 'text/plain', content: '' }] },
    { attachments: [{ name: 'a', mime: `text/plain\r\nX: y`, content: '' }] },
    { attachments: [{ name: 'a', mime: 'text/plain', content: '', cid: evil }] },
  ]
  for (const change of attempts) {
    const outcome = await send({ port }, change)
    assert.equal(outcome.kind, 'refused', JSON.stringify(change))
  }
  assert.equal(mails.length, 0)
  assert.equal(sockets.length, 0)
})

test('an attachment or a body that names a file or an address is content, and nothing is read', async (t) => {
  const { port, mails } = await startMailServer(t)
  const body = { path: '/etc/hostname', href: 'http://127.0.0.1:1/' }
  await send({ port }, { html: '<img src="file:///etc/hostname">', text: JSON.stringify(body) })
  assert.match(mails[0]?.raw ?? '', /file:\/\/\/etc\/hostname/)
})

test('a good password is used, a bad one is the account’s fault and stands in no words', async (t) => {
  const { port, mails } = await startMailServer(t)
  assert.equal((await send({ port, user: 'me', password: 'right' })).kind, 'sent')
  assert.equal(mails[0]?.user, 'me')
  const wrong = await send({ port, user: 'me', password: 'hunter2hunter2' })
  assert.equal(wrong.kind, 'misconfigured')
  assert.match(wrong.kind === 'misconfigured' ? wrong.detail : '', /Wrong name or password/)
  assert.doesNotMatch(JSON.stringify(wrong), /hunter2/)
})

test('TLS is spoken from the start, or as soon as the server offers it, and an unknown caller’s certificate is not trusted', async (t) => {
  const certificates = makeCertificates(t)
  const [ca, otherCa, cert, key] = [
    certificates.ca,
    certificates.otherCa,
    certificates.certificate,
    certificates.key,
  ].map((file) => readFileSync(file, 'utf8'))
  assert.ok(cert !== undefined && key !== undefined)
  for (const secure of [true, false]) {
    const { port, mails } = await startMailServer(t, { secure, cert, key })
    const account = { port, secure, ignoreTls: false, tlsOptions: { ca } }
    assert.equal((await send(account)).kind, 'sent')
    assert.equal((await send({ ...account, host: 'localhost' })).kind, 'sent')
    assert.deepEqual(
      mails.map(({ isSecure }) => isSecure),
      [true, true],
    )
    assert.equal((await send({ ...account, tlsOptions: { ca: otherCa } })).kind, 'busy')
    assert.equal((await send({ ...account, tlsOptions: {} })).kind, 'busy')
    assert.equal(mails.length, 2)
  }
})

test('where TLS is required and not offered, nothing is sent', async (t) => {
  const { port, mails } = await startMailServer(t, { disabledCommands: ['STARTTLS'] })
  const outcome = await send({ port, ignoreTls: false, requireTls: true, user: 'me', password: 'right' })
  assert.equal(outcome.kind, 'misconfigured')
  assert.equal(mails.length, 0)
})

test('a message is signed when domain, key and selector are all there, and only then', async (t) => {
  const { port, mails } = await startMailServer(t)
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const secretKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  await send({ port, domain: 'example.com', secretKey, accountSid: 'mail1' })
  const signature = headerOf(mails[0]?.raw ?? '', 'DKIM-Signature') ?? ''
  assert.match(signature, /d=example\.com;/)
  assert.match(signature, /s=mail1;/)
  assert.match(headerOf(mails[0]?.raw ?? '', 'Subject') ?? '', /Invoice 7/)
  await send({ port, domain: 'example.com', secretKey })
  assert.equal(headerOf(mails[1]?.raw ?? '', 'DKIM-Signature'), undefined)
  const broken = await send({ port, domain: 'example.com', secretKey: '-----BEGIN PRIVATE KEY-----', accountSid: 's' })
  assert.equal(broken.kind, 'misconfigured')
  assert.equal(mails.length, 2)
})

test('a recipient the server does not know is refused; when it takes the others, the message is sent and the rest reported', async (t) => {
  const { port, mails } = await startMailServer(t, {
    onRcptTo: ({ address }, _session, done) =>
      address.startsWith('nobody') ? done(reply(550, '5.1.1 user unknown')) : done(),
  })
  const none = await send({ port }, { to: ['nobody@example.org'], bcc: ['nobody2@example.org'] })
  assert.equal(none.kind, 'refused')
  assert.equal(none.kind === 'refused' && none.reason, 'bad-recipient')
  assert.match(none.kind === 'refused' ? none.detail : '', /5\.1\.1 user unknown/)
  const some = await send({ port }, { to: ['zoe@example.org', 'nobody@example.org'] })
  assert.equal(some.kind, 'sent')
  assert.match(some.kind === 'sent' ? (some.detail ?? '') : '', /1 of 2 recipients were rejected: .*user unknown/)
  assert.deepEqual(mails[0]?.recipients, ['zoe@example.org'])
  const copy = await send({ port }, { to: ['nobody@example.org'], bcc: ['archive@example.org'] })
  assert.equal(
    copy.kind === 'refused' && copy.reason,
    'bad-recipient',
    'a copy does not stand for whom it was meant for',
  )
  assert.match(copy.kind === 'refused' ? copy.detail : '', /1 of 2 recipients were rejected: .*user unknown/)
})

test('an image with an id stands in the HTML, unless it is to be a file', async (t) => {
  const { port, mails } = await startMailServer(t)
  const image = { name: 'logo.png', mime: 'image/png', content: 'iVBORw0KGgo=', cid: 'logo' }
  await send({ port }, { attachments: [image] })
  await send({ port }, { attachments: [{ ...image, disposition: 'attachment' }] })
  await send({ port }, { attachments: [{ ...image, mime: 'application/pdf' }] })
  const reported = mails.map(({ raw }) => /Content-Disposition: (\w+)/.exec(raw)?.[1])
  assert.deepEqual(reported, ['inline', 'attachment', 'attachment'])
})

const kindAfter: [string, number, Outcome['kind']][] = [
  ['onMailFrom', 451, 'busy'],
  ['onMailFrom', 421, 'busy'],
  ['onMailFrom', 553, 'misconfigured'],
  ['onMailFrom', 530, 'misconfigured'],
  ['onRcptTo', 450, 'busy'],
  ['onRcptTo', 554, 'refused'],
  ['onData', 452, 'busy'],
  ['onData', 554, 'refused'],
]
for (const [where, code, kind] of kindAfter) {
  test(`${code} at ${where} is ${kind}, and the next message gets through`, async (t) => {
    let refusals = 0
    const refuseOnce = (done: (error?: Error) => void): void => {
      refusals += 1
      done(refusals === 1 ? reply(code, 'not now') : undefined)
    }
    const { port } = await startMailServer(t, {
      [where]: (...given: unknown[]) => {
        const done = given.at(-1) as (error?: Error) => void
        if (where !== 'onData') return refuseOnce(done)
        const stream = given[0] as NodeJS.ReadableStream
        stream.on('end', () => refuseOnce(done)).resume()
      },
    })
    const outcome = await send({ port })
    assert.equal(outcome.kind, kind, JSON.stringify(outcome))
    assert.match(JSON.stringify(outcome), /not now/)
    assert.equal((await send({ port })).kind, 'sent')
  })
}

test('a sender that only the message wanted is the message’s fault', async (t) => {
  const { port } = await startMailServer(t, {
    onMailFrom: (_address, _session, done) => done(reply(553, 'not your address')),
  })
  assert.equal((await send({ port }, { from: 'other@example.net' })).kind, 'refused')
})

test('a message larger than the server takes is refused before it is sent', async (t) => {
  const { port, mails } = await startMailServer(t, { size: 2000 })
  const outcome = await send({ port }, { text: 'x'.repeat(5000) })
  assert.equal(outcome.kind === 'refused' && outcome.reason, 'bad-content')
  assert.equal(mails.length, 0)
})

test('a closed port, an unknown name and a metadata address are distinguished', async () => {
  const closed = createServer()
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
  const port = String((closed.address() as AddressInfo).port)
  await new Promise((resolve) => closed.close(resolve))
  assert.equal((await send({ port })).kind, 'busy')
  assert.equal((await send({ port, host: 'nowhere.invalid' })).kind, 'busy')
  const refused = await send({ port: '25', host: '169.254.169.254' })
  assert.equal(refused.kind, 'misconfigured')
})

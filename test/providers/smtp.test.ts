// Connections to mail servers: how they break, how they are shared, and when they are closed.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { after, test } from 'node:test'
import type { Outcome } from '../../src/domain/delivery/outcome.ts'
import { nodemailer } from '../../src/providers/email/nodemailer.ts'
import { closeSmtpPools, sendBySmtp } from '../../src/providers/email/smtp.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import type { MailServer } from '../support/outbound-scene.ts'
import { email, startMailServer } from '../support/outbound-scene.ts'
import { polite, startScript } from '../support/smtp-script.ts'

after(() => closeSmtpPools())

async function send(credentials: object): Promise<Outcome> {
  const account = { host: '127.0.0.1', from: 'hello@example.com', ignoreTls: true, ...credentials }
  const outcome = await nodemailer.send?.(createFakeWorld(), email(), account)
  assert.ok(outcome)
  return outcome
}

test('a connection that breaks before the content began was certainly not sent, one that has all of it leaves us unsure', async (t) => {
  for (const [at, kind] of [
    ['EHLO', 'busy'],
    ['MAIL FROM', 'busy'],
    ['RCPT TO', 'busy'],
    ['DATA', 'busy'],
    ['.', 'unsure'],
  ] as const) {
    let isContent = false
    const port = await startScript(t, (line, socket) => {
      if (at === '.' ? line === '.' : line.startsWith(at)) socket.destroy()
      else if (!isContent) polite(line, socket)
      isContent ||= line === 'DATA'
    })
    const outcome = await send({ port })
    assert.equal(outcome.kind, kind, `${at}: ${JSON.stringify(outcome)}`)
  }
})

test('a server that never says whether it took the content leaves us unsure at the deadline, one that never asked for it does not', async (t) => {
  const mail = { from: 'a@example.com', recipients: ['b@example.org'], raw: Buffer.from('Subject: x\r\n\r\nHi\r\n') }
  let isContent = false
  const silent = await startScript(t, (line, socket) => {
    if (!isContent) polite(line, socket)
    isContent ||= line === 'DATA'
  })
  const late = await sendBySmtp({ host: '127.0.0.1', port: silent, ignoreTls: true }, mail, 2_000)
  assert.deepEqual([late.kind, late.kind === 'failed' && late.mayBeTaken], ['failed', true])
  const dumb = await startScript(t, (line, socket) => {
    if (!line.startsWith('RCPT')) polite(line, socket)
  })
  const early = await sendBySmtp({ host: '127.0.0.1', port: dumb, ignoreTls: true }, mail, 300)
  assert.deepEqual([early.kind, early.kind === 'failed' && early.mayBeTaken], ['failed', false])
})

test('a server gets every domain in ASCII', async (t) => {
  const reported: string[] = []
  const port = await startScript(t, (line, socket) => {
    reported.push(line)
    if (!reported.includes('DATA') || line === 'DATA' || line === '.') polite(line, socket)
  })
  const account = { host: '127.0.0.1', port, ignoreTls: true, from: 'hello@bücher.example' }
  const message = email({ to: ['Zoe@BÜCHER.example', 'Yan@Example.org'] })
  const outcome = await nodemailer.send?.(createFakeWorld(), message, account)
  assert.deepEqual(outcome, { kind: 'sent', providerMessageId: `<${message.id}@xn--bcher-kva.example>` })
  assert.deepEqual(
    reported.filter((line) => /^(MAIL|RCPT)/.test(line)),
    ['MAIL FROM:<hello@xn--bcher-kva.example>', 'RCPT TO:<Zoe@xn--bcher-kva.example>', 'RCPT TO:<Yan@Example.org>'],
  )
})

async function sendMany(server: MailServer, count: number): Promise<void> {
  const outcomes = await Promise.all(Array.from({ length: count }, () => send({ port: server.port })))
  assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set(['sent']))
}

// The timeout is below the time after which an idle connection would close by itself.
test('connections are few, used again and again, and none stays after closing', { timeout: 25_000 }, async (t) => {
  const server = await startMailServer(t)
  for (let one = 0; one < 3; one += 1) await sendMany(server, 1)
  assert.equal(server.sockets.length, 1)
  await sendMany(server, 40)
  assert.equal(server.mails.length, 43)
  assert.ok(server.sockets.length <= 5, `${server.sockets.length} connections`)
  await closeSmtpPools()
  const signal = AbortSignal.timeout(20_000)
  await Promise.all(server.sockets.filter(({ closed }) => !closed).map((socket) => once(socket, 'close', { signal })))
})

test('a connection carries a hundred messages and is then replaced', async (t) => {
  const server = await startMailServer(t)
  for (let one = 0; one < 101; one += 1) await sendMany(server, 1)
  assert.equal(server.mails.length, 101)
  assert.equal(server.sockets.length, 2)
})

test('accounts that differ do not share a connection', async (t) => {
  const server = await startMailServer(t)
  await send({ port: server.port })
  await send({ port: server.port, user: 'me', password: 'right' })
  await send({ port: server.port, user: 'you', password: 'right' })
  assert.deepEqual(
    server.mails.map(({ user }) => user),
    [undefined, 'me', 'you'],
  )
  assert.equal(server.sockets.length, 3)
})

test('a message that waits for a connection until its time is up is taken out of the line and never sent', async (t) => {
  const raw = Buffer.from('Subject: x\r\n\r\nHi\r\n')
  let taken = 0
  let isReleased = false
  const held: (() => void)[] = []
  const { port } = await startMailServer(t, {
    onData: (stream, _session, done) => {
      taken += 1
      stream.on('end', () => (isReleased ? done() : held.push(done))).resume()
    },
  })
  const account = { host: '127.0.0.1', port, ignoreTls: true }
  const mail = { from: 'a@example.com', recipients: ['b@example.org'], raw }
  const first = Array.from({ length: 5 }, () => sendBySmtp(account, mail, 10_000))
  const waiting = await sendBySmtp(account, mail, 1_000)
  assert.deepEqual([waiting.kind, waiting.kind === 'failed' && waiting.mayBeTaken], ['failed', false])
  isReleased = true
  for (const done of held) done()
  for (const result of await Promise.all(first)) assert.equal(result.kind, 'taken')
  assert.equal((await sendBySmtp(account, mail, 10_000)).kind, 'taken')
  assert.equal(taken, 6)
})

test('a kept connection that the server has closed costs no message', async (t) => {
  const sockets: Socket[] = []
  let isContent = false
  const port = await startScript(t, (line, socket) => {
    sockets.push(socket)
    if (isContent && line !== '.') return
    // The second message on a connection meets a server that hangs up.
    if (line.startsWith('MAIL') && sockets.filter((one) => one === socket).length > 4) socket.destroy()
    else polite(line, socket)
    isContent = line === 'DATA' && !socket.destroyed
  })
  assert.equal((await send({ port })).kind, 'sent')
  assert.equal((await send({ port })).kind, 'sent')
  assert.equal(new Set(sockets).size, 2)
})

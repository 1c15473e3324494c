// Custom SMTP: the check of an account against a real server.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { SMTPServerOptions } from 'smtp-server'
import { SMTPServer } from 'smtp-server'
import { nodemailer } from '../../src/providers/email/nodemailer.ts'
import { greetSmtp, smtpSettings } from '../../src/providers/email/smtp-account.ts'
import { createFakeWorld } from '../support/fake-world.ts'

interface Seen {
  readonly users: string[]
  mails: number
  secure: boolean
}

async function startSmtp(t: TestContext, options: SMTPServerOptions = {}): Promise<{ port: string; seen: Seen }> {
  const seen: Seen = { users: [], mails: 0, secure: false }
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    logger: false,
    onAuth: (auth, session, done) => {
      seen.users.push(auth.username ?? '')
      seen.secure = session.secure === true
      if (auth.password === 'right') done(null, { user: auth.username })
      else done(new Error('Wrong name or password'))
    },
    onMailFrom: (_address, _session, done) => {
      seen.mails += 1
      done()
    },
    ...options,
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return { port: String((server.server.address() as AddressInfo).port), seen }
}

const check = (credentials: object) =>
  nodemailer.check?.(createFakeWorld(), { host: '127.0.0.1', from: 'hello@example.com', ...credentials })
const insecure = { tlsOptions: { rejectUnauthorized: false } }

test('the check greets, secures and authenticates, and sends nothing', async (t) => {
  const { port, seen } = await startSmtp(t)
  assert.deepEqual(await check({ port, user: 'me', password: 'right', ...insecure }), { kind: 'good' })
  assert.deepEqual(seen, { users: ['me'], mails: 0, secure: true })
})

test('a server without accounts is only greeted', async (t) => {
  const { port, seen } = await startSmtp(t, { disabledCommands: ['AUTH', 'STARTTLS'] })
  assert.deepEqual(await check({ port }), { kind: 'good' })
  assert.deepEqual(seen.users, [])
})

test('TLS from the start is spoken when asked for', async (t) => {
  const { port, seen } = await startSmtp(t, { secure: true })
  assert.deepEqual(await check({ port, secure: true, user: 'me', password: 'right', ...insecure }), { kind: 'good' })
  assert.equal(seen.secure, true)
})

test('a wrong password is reported in the server’s words', async (t) => {
  const { port } = await startSmtp(t)
  const result = await check({ port, user: 'me', password: 'wrong', ...insecure })
  assert.equal(result?.kind, 'bad')
  assert.match(result?.kind === 'bad' ? result.words : '', /Wrong name or password/)
  assert.equal(result?.kind === 'bad' && result.field, 'password')
})

test('an untrusted certificate, a missing STARTTLS and a wrong TLS option are refusals, not faults', async (t) => {
  const { port } = await startSmtp(t)
  assert.equal((await check({ port }))?.kind, 'bad')
  assert.equal((await check({ port, tlsOptions: { minVersion: 'nonsense' } }))?.kind, 'bad')
  const plain = await startSmtp(t, { disabledCommands: ['STARTTLS'] })
  assert.equal((await check({ port: plain.port, requireTls: true }))?.kind, 'bad')
})

test('ignoring TLS leaves the connection plain', async (t) => {
  const { port, seen } = await startSmtp(t)
  assert.deepEqual(await check({ port, ignoreTls: true, user: 'me', password: 'right' }), { kind: 'good' })
  assert.equal(seen.secure, false)
})

test('a closed port and an unknown name are reported, a metadata address is never connected to', async () => {
  const closed = createServer()
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
  const port = String((closed.address() as AddressInfo).port)
  await new Promise((resolve) => closed.close(resolve))
  assert.equal((await check({ port }))?.kind, 'bad')
  for (const host of ['169.254.169.254', '0xa9fea9fe', '[::ffff:169.254.169.254]', 'metadata.google.internal']) {
    const result = await check({ host, port: '25' })
    assert.match(result?.kind === 'bad' ? result.words : '', /metadata/, host)
  }
})

test('the connection goes to the vetted address, and TLS options cannot lead it elsewhere', async () => {
  const tlsOptions = {
    host: '169.254.169.254',
    port: 80,
    path: '/var/run/docker.sock',
    socket: {},
    minVersion: 'TLSv1.3',
  }
  const settings = await smtpSettings({ host: 'localhost', port: '587', tlsOptions })
  assert.match(settings.host, /^(127\.0\.0\.1|::1)$/)
  assert.equal(settings.servername, 'localhost')
  assert.deepEqual(settings.tls, { minVersion: 'TLSv1.3' })
})

test('a password crosses the open internet encrypted or not at all, unless the operator says so', async () => {
  const account = { host: '93.184.215.14', port: '587', user: 'me', password: 'secret' }
  assert.equal((await smtpSettings(account)).requireTLS, true)
  assert.equal((await smtpSettings({ ...account, ignoreTls: true })).requireTLS, false)
  assert.equal((await smtpSettings({ host: account.host, port: '25' })).requireTLS, false)
  assert.equal((await smtpSettings({ ...account, host: '10.0.0.1' })).requireTLS, false)
})

test('a server that drips its greeting forever is left at the deadline', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('220 slow\r\n')
    const drip = setInterval(() => socket.write('250-and more\r\n'), 20)
    socket.on('close', () => clearInterval(drip))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  await assert.rejects(greetSmtp({ host: '127.0.0.1', port: String(port) }, 200), /did not finish in time/)
})

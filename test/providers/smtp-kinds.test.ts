// The kinds of SMTP beside the custom one: EmailJS, and a mailbox of Microsoft 365.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { after, test } from 'node:test'
import type { SMTPServerOptions } from 'smtp-server'
import { emailjs } from '../../src/providers/email/emailjs.ts'
import { nodemailer } from '../../src/providers/email/nodemailer.ts'
import { mailboxAccount, outlook365 } from '../../src/providers/email/outlook365.ts'
import { closeSmtpPools } from '../../src/providers/email/smtp.ts'
import { checkMail, sendMail } from '../../src/providers/email/smtp-send.ts'
import { fieldsOf, formMistakes } from '../../src/providers/form.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { email, emailMessage, reply, startMailServer } from '../support/outbound-scene.ts'
import { makeCertificates } from '../support/tls-front.ts'

after(() => closeSmtpPools())

const world = createFakeWorld()
const mailbox = { from: 'hello@example.com', password: 'right' }
const requiredOf = (form: Parameters<typeof fieldsOf>[0]): string[] =>
  fieldsOf(form).flatMap(([key, field]) => (field.required ? [key] : []))

/** A server whose certificate is good to those who know its authority, and an account that does. */
async function startOffice(t: TestContext, options: SMTPServerOptions = {}) {
  const certificates = makeCertificates(t)
  const [ca, cert, key] = [certificates.ca, certificates.certificate, certificates.key].map((file) =>
    readFileSync(file, 'utf8'),
  )
  assert.ok(cert !== undefined && key !== undefined)
  const server = await startMailServer(t, { cert, key, allowInsecureAuth: false, authOptional: false, ...options })
  const account = (more: object = {}) => ({
    ...mailboxAccount({ ...mailbox, host: '127.0.0.1', port: server.port, ...more }),
    tlsOptions: { ca },
  })
  return { ...server, account }
}

test('EmailJS sends as the custom kind does, its sender’s name and its files among it', async (t) => {
  const { port, mails } = await startMailServer(t)
  const attachments = [{ name: 'terms.txt', mime: 'text/plain', content: Buffer.from('Hello').toString('base64') }]
  const account = { host: '127.0.0.1', port, from: 'hello@example.com', senderName: 'Acme', ignoreTls: true }
  for (const [kind, id] of [
    [emailjs, '1'],
    [nodemailer, '2'],
  ] as const) {
    const outcome = await kind.send?.(createFakeWorld(), email({ id, attachments, bcc: ['ben@example.org'] }), {
      ...account,
      user: 'me',
      password: 'right',
    })
    assert.deepEqual(outcome, { kind: 'sent', providerMessageId: `<${id}@example.com>` })
  }
  const [one, two] = mails.map(({ raw, recipients, user }) => ({
    raw: raw.replaceAll(/<[12]@example.com>|--_NmP-[^"\s;]+|"--_NmP[^"]+"/g, ''),
    recipients,
    user,
  }))
  assert.deepEqual(one, two)
  assert.match(one?.raw ?? '', /^From: Acme <hello@example\.com>/m)
  assert.match(one?.raw ?? '', /SGVsbG8=/, 'encoded once')
  const wrong = await emailjs.check?.(createFakeWorld(), { ...account, user: 'me', password: 'wrong' })
  assert.equal(wrong?.kind, 'bad')
  assert.equal((await emailjs.check?.(createFakeWorld(), account))?.kind, 'good')
  assert.deepEqual(requiredOf(emailjs.form), ['host', 'port', 'from'])
})

test('a mailbox needs its address and a password; the rest is known', () => {
  assert.deepEqual(requiredOf(outlook365.form), ['from', 'password'])
  assert.deepEqual(formMistakes(outlook365.form, mailbox), {})
  const account = mailboxAccount(mailbox)
  assert.deepEqual([account.host, account.port, account.user], ['smtp.office365.com', '587', 'hello@example.com'])
  assert.equal(account.requireTls, true)
  assert.equal(mailboxAccount({ ...mailbox, user: 'robot@example.com' }).user, 'robot@example.com')
})

test('a mailbox sends by an encrypted connection, one at a time', async (t) => {
  const office = await startOffice(t)
  const account = office.account()
  const outcomes = await Promise.all(
    ['1', '2', '3'].map((id) => sendMail(world, email({ id, cc: ['amy@example.org'] }), account)),
  )
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['sent', 'sent', 'sent'],
  )
  assert.deepEqual(
    office.mails.map(({ user, isSecure, recipients }) => [user, isSecure, recipients.length]),
    office.mails.map(() => ['hello@example.com', true, 2]),
  )
  assert.equal(office.sockets.length, 1)
  assert.equal((await checkMail({}, account)).kind, 'good')
})

test('a token is used instead of the password, and a bad one is the account’s fault', async (t) => {
  const office = await startOffice(t, {
    authMethods: ['XOAUTH2'],
    onAuth: (auth, _session, done) => {
      if (auth.method === 'XOAUTH2' && auth.accessToken === 'good-token') done(null, { user: auth.username })
      else done(null, { data: { status: '401', schemes: 'bearer', scope: 'mail' } })
    },
  })
  assert.equal((await sendMail(world, email(), office.account({ token: 'good-token' }))).kind, 'sent')
  assert.equal(office.mails[0]?.user, 'hello@example.com')
  const refusal = await sendMail(world, email(), office.account({ token: 'bad-token' }))
  assert.equal(refusal.kind, 'misconfigured', JSON.stringify(refusal))
  assert.deepEqual(
    [await checkMail({}, office.account({ token: 'bad-token' }))].map(
      (result) => result.kind === 'bad' && result.field,
    ),
    ['token'],
  )
})

test('a mailbox never speaks in the clear, nor to an unknown caller', async (t) => {
  const plain = await startMailServer(t, { disabledCommands: ['STARTTLS'] })
  const here = { ...mailbox, host: '127.0.0.1', port: plain.port }
  assert.equal((await outlook365.send?.(createFakeWorld(), email(), here))?.kind, 'misconfigured')
  const office = await startOffice(t)
  const otherSubscriber = { ...mailbox, host: '127.0.0.1', port: office.account().port }
  assert.equal((await outlook365.send?.(createFakeWorld(), email(), otherSubscriber))?.kind, 'busy')
  assert.equal((await outlook365.check?.(createFakeWorld(), otherSubscriber))?.kind, 'bad')
  assert.equal(plain.mails.length + office.mails.length, 0)
})

test('what Exchange Online says is distinguished', async (t) => {
  for (const [answer, kind] of [
    [reply(550, '5.7.60 SMTP; Client does not have permissions to send as this sender'), 'misconfigured'],
    [reply(432, '4.3.2 Concurrent connections limit exceeded'), 'busy'],
    [reply(554, '5.6.0 Invalid message content'), 'refused'],
  ] as const) {
    const office = await startOffice(t, {
      onData: (stream, _session, done) => void stream.on('end', () => done(answer)).resume(),
    })
    const outcome = await sendMail(world, emailMessage, office.account())
    assert.equal(outcome.kind, kind, JSON.stringify(outcome))
  }
})

// The built-in e-mail: kept, or sent through the operator's mail server.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Outcome } from '../../src/domain/delivery/outcome.ts'
import type { EmailMessage } from '../../src/domain/messages/outbound-message.ts'
import { hasMailServer, platformEmail } from '../../src/providers/email/platform-email.ts'
import { closeSmtpPools } from '../../src/providers/email/smtp.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { email, emailMessage, startMailServer } from '../support/outbound-scene.ts'

after(() => closeSmtpPools())

const send = async (credentials: object, change: Partial<EmailMessage> = {}) =>
  (await platformEmail.send?.(createFakeWorld(), email(change), credentials)) as Outcome

test('without a mail server the message is kept and nothing leaves', async () => {
  const outcome = await send({}, { to: ['not an address'] })
  assert.deepEqual(outcome, { kind: 'sent', providerMessageId: emailMessage.id, captured: true })
  assert.equal(hasMailServer({}), false)
  assert.equal(hasMailServer({ host: '' }), false)
})

test('with one it is sent from the operator’s address', async (t) => {
  const { port, mails } = await startMailServer(t)
  const account = { host: '127.0.0.1', port, from: 'hello@example.com', senderName: 'Acme', ignoreTls: true }
  assert.equal(hasMailServer(account), true)
  const outcome = await send(account)
  assert.deepEqual(outcome, { kind: 'sent', providerMessageId: `<${emailMessage.id}@example.com>` })
  assert.match(mails[0]?.raw ?? '', /^From: Acme <hello@example\.com>\r$/m)
})

test('a sender of the operator’s domain is kept, any other is whom to reply to', async (t) => {
  const { port, mails } = await startMailServer(t)
  const account = { host: '127.0.0.1', port, from: 'hello@example.com', ignoreTls: true }
  await send(account, { from: 'billing@EXAMPLE.com' })
  await send(account, { from: 'boss@customer.example' })
  await send(account, { from: 'boss@customer.example', replyTo: 'help@customer.example' })
  await send(account, { from: 'boss@sub.example.com' })
  assert.deepEqual(
    mails.map(({ from }) => from),
    ['billing@EXAMPLE.com', 'hello@example.com', 'hello@example.com', 'hello@example.com'],
  )
  const replyTos = mails.map(({ raw }) => /^Reply-To: (.*)\r$/m.exec(raw)?.[1])
  assert.deepEqual(replyTos, [undefined, 'boss@customer.example', 'help@customer.example', 'boss@sub.example.com'])
})

test('an account that is incomplete is misconfigured, and its password is never shown', async (t) => {
  const incomplete = await send({ host: '127.0.0.1', port: '25' })
  assert.equal(incomplete.kind, 'misconfigured')
  assert.match(JSON.stringify(incomplete), /credentials\.from/)
  const { port } = await startMailServer(t, {
    onAuth: (auth, _session, done) => done(new Error(`no such password: ${auth.password}`)),
  })
  const account = { host: '127.0.0.1', port, from: 'hello@example.com', user: 'me', password: 'hunter2hunter2' }
  const wrong = await send({ ...account, ignoreTls: true })
  assert.equal(wrong.kind, 'misconfigured')
  assert.match(JSON.stringify(wrong), /no such password: \[redacted\]/)
})

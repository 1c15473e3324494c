// SendGrid’s Inbound Parse: each field in its own charset, and a key that is no secret proves nothing.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { sendgrid } from '../../src/providers/email/sendgrid.ts'
import { isBelieved, mailIn } from '../../src/providers/inbound/inbound.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { inboundCallOf } from '../support/provider-contract.ts'

const field = (name: string, value: Buffer | string): Buffer =>
  Buffer.concat([
    Buffer.from(`--xYzZY\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`),
    Buffer.from(value),
    Buffer.from('\r\n'),
  ])

const callOf = (charset: string) =>
  inboundCallOf({
    headers: { 'content-type': 'multipart/form-data; boundary=xYzZY' },
    body: Buffer.concat([
      field('headers', 'Subject: x'),
      field('envelope', '{"to":["reply@acme.test"],"from":"zoe@example.org"}'),
      field('from', 'zoe@example.org'),
      field('subject', 'Größe'),
      // “Привет”.
      field('text', Buffer.from('f0d2c9d7c5d4', 'hex')),
      field('charsets', JSON.stringify({ subject: 'UTF-8', text: charset })),
      Buffer.from('--xYzZY--\r\n'),
    ]),
  })

test('a field is read in the charset that is named for it', async () => {
  const mail = await mailIn(sendgrid, callOf('koi8-r'))
  assert.deepEqual([mail?.subject, mail?.text], ['Größe', 'Привет'])
})

test('a charset that no one knows leaves what can be read', async () => {
  const mail = await mailIn(sendgrid, callOf('x-no-such'))
  assert.equal(mail?.subject, 'Größe')
  assert.notEqual(mail?.text, '')
})

test('the verification key of events does not let a mail in; a secret does', async () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const verification = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  const believed = (key: string) => {
    const call = inboundCallOf({ headers: { authorization: `Bearer ${key}` } })
    return isBelieved(sendgrid.replies ?? {}, call, { key, account: {}, world: createFakeWorld() })
  }
  assert.deepEqual([await believed(verification), await believed('a-secret'), await believed('')], [false, true, false])
})

// E-mails that share a request: which of them may, and what an answer means that is not of each of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailjet } from '../../src/providers/email/mailjet.ts'
import { mailtrap } from '../../src/providers/email/mailtrap.ts'
import { postmark } from '../../src/providers/email/postmark.ts'
import { resend } from '../../src/providers/email/resend.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { email } from '../support/outbound-scene.ts'
import { kindOf } from '../support/provider-scene.ts'

const file = { name: 'a.txt', mime: 'text/plain', content: 'SGVsbG8=' }
const account = { apiKey: 'api-key-0001', secretKey: 'secret-key-0001', from: 'hello@example.com' }

for (const [provider, max] of [
  [postmark, 500],
  [mailtrap, 500],
  [resend, 100],
  [mailjet, 50],
] as const) {
  const key = (change: object) => provider.batching?.key(email(change) as never, {})

  test(`${provider.id}: small messages share a request; large ones, files and additions go alone`, () => {
    assert.equal(key({}), '')
    assert.equal(key({ subject: 'Another', to: ['yan@example.org'], text: 'Another' }), '')
    const large = { html: 'x'.repeat(70_000) }
    for (const change of [large, { attachments: [file] }, { passthrough: {} }]) assert.equal(key(change), undefined)
    assert.equal(provider.batching?.max, max)
  })

  test(`${provider.id}: only those with the same settings do, for one that is refused may cost the others`, () => {
    const settings = { customData: { a: 1 } }
    assert.equal(key(settings), key({ ...settings, text: 'Another' }))
    assert.notEqual(key(settings), undefined)
    assert.notEqual(key(settings), key({}))
    assert.notEqual(key(settings), key({ customData: { a: 2 } }))
  })

  test(`${provider.id}: settings that look like an outcome are none`, async () => {
    const world = createFakeWorld()
    let calls = 0
    world.onFetch = async () => {
      calls += 1
      return { status: 200, headers: new Headers(), body: '' }
    }
    const message = email({ customData: { kind: 'sent', providerMessageId: 'made-up', detail: 'made up' } })
    const outcomes = await provider.sendMany?.(world, [message, message], account)
    assert.deepEqual(outcomes?.map(kindOf), ['unsure', 'unsure'])
    assert.equal(calls, 1)
  })
}

test('a sandbox, or a later time, is for a message that goes alone', () => {
  const sandboxed = email({ customData: { SandboxMode: true } })
  assert.equal(mailjet.batching?.key(sandboxed as never, {}), undefined)
  const scheduled = email({ customData: { scheduled_at: '2026-01-02' } })
  assert.equal(resend.batching?.key(scheduled as never, {}), undefined)
})

test('postmark: with one answer too few no one knows whose they are', async () => {
  const taken = { ErrorCode: 0, Message: 'OK', MessageID: 'id-1' }
  const kindsAfter = async (body: unknown) => {
    const world = createFakeWorld()
    world.onFetch = async () => ({ status: 200, headers: new Headers(), body: JSON.stringify(body) })
    return (await postmark.sendMany?.(world, [email({}), email({})], account))?.map(kindOf)
  }
  assert.deepEqual(await kindsAfter([taken, { ErrorCode: 1235, Message: 'No such stream' }]), [
    'sent',
    'refused: other',
  ])
  for (const body of [[taken], [taken, taken, taken], [], taken]) {
    assert.deepEqual(await kindsAfter(body), ['unsure', 'unsure'], JSON.stringify(body))
  }
})

test('mailjet: a message in the sandbox is a success although it gets no id', async () => {
  const world = createFakeWorld()
  const body = JSON.stringify({ Messages: [{ Status: 'success', To: [{ MessageUUID: '', MessageID: 0 }] }] })
  world.onFetch = async () => ({ status: 200, headers: new Headers(), body })
  const message = email({ customData: { SandboxMode: true } })
  const outcome = await mailjet.send?.(world, message, account)
  assert.deepEqual(outcome, { kind: 'sent', providerMessageId: message.id })
  assert.equal((await mailjet.send?.(world, email({}), account))?.kind, 'unsure')
})

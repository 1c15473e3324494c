// Rules that hold for every provider of the registry.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formMistakes } from '../../src/providers/form.ts'
import { nearestProvider, providerOf, providers } from '../../src/providers/registry.ts'
import { createFakeWorld } from '../support/fake-world.ts'

for (const provider of providers) {
  test(`${provider.id} is found by its id and speaks of its own channel`, () => {
    assert.equal(providerOf(provider.id), provider)
    assert.match(provider.id, /^[a-z0-9-]+$/)
    assert.notEqual(provider.name, '')
  })

  test(`${provider.id} names each required field of an empty account`, () => {
    const required = Object.entries(provider.form).filter(([, field]) => field.required)
    assert.deepEqual(
      Object.keys(formMistakes(provider.form, {})),
      required.map(([key]) => `credentials.${key}`),
    )
  })
}

test('a provider with no one to ask has no check, and no network is needed to know', () => {
  for (const id of ['platform', 'platform-email', 'platform-sms']) assert.equal(providerOf(id)?.check, undefined, id)
})

test('every provider that is called on sends, and the feed alone does not', () => {
  for (const provider of providers) assert.equal(provider.send === undefined, provider.id === 'platform', provider.id)
})

test('a provider that is away is a bad account in words, and a bug stays a bug', async () => {
  const world = createFakeWorld()
  await assert.rejects(
    async () => providerOf('sendgrid')?.check?.(world, { apiKey: 'k', from: 'a@b.c' }),
    /did not expect/,
  )
})

test('the nearest provider is of the channel asked for, or there is none', () => {
  assert.equal(nearestProvider('sendgrid', 'sms'), undefined)
  assert.equal(nearestProvider('twillio', 'sms')?.id, 'twilio')
  assert.equal(nearestProvider('nodemail', 'email')?.id, 'nodemailer')
})

/** Every id that the interface names, by the channel it is of; Clickatell stands among its e-mail providers and sends SMS. */
const named: Readonly<Record<string, string>> = {
  in_app: 'platform',
  email:
    'emailjs mailgun mailjet mandrill nodemailer postmark sendgrid sendinblue ses netcore infobip-email resend plunk mailersend mailtrap outlook365 platform-email sparkpost email-webhook braze',
  sms: 'clickatell nexmo plivo sms77 sms-central sns telnyx twilio gupshup firetext infobip-sms burst-sms bulk-sms isend-sms forty-six-elks kannel maqsam termii africas-talking platform-sms sendchamp generic-sms clicksend bandwidth messagebird simpletexting azure-sms ring-central brevo-sms eazy-sms mobishastra afro-message unifonic smsmode imedia sinch',
  push: 'fcm apns expo one-signal pushpad push-webhook pusher-beams appio',
  chat: 'slack discord msteams mattermost ryver zulip grafana-on-call getstream rocket-chat whatsapp-business chat-webhook platform-slack',
}

test('every provider of the interface is there, on its channel, and beyond it only those that we added', () => {
  const expected = Object.entries(named).flatMap(([channel, ids]) => ids.split(' ').map((id) => `${channel} ${id}`))
  assert.equal(expected.length, 77)
  const known = providers.map(({ channel, id }) => `${channel} ${id}`)
  assert.deepEqual(known.toSorted(), [...expected, 'chat telegram', 'push web-push'].toSorted())
})

test('each says where its facts come from, and what can be asked of it', () => {
  for (const { id, evidence, receipts, docsUrl } of providers) {
    assert.match(evidence.source, /^(vendor|partly|others|ours)$/, id)
    assert.match(docsUrl, /^(https:\/\/|\/)/, id)
    if (receipts !== undefined) assert.match(receipts.setUp, /\.$/, `${id}: a sentence`)
    if (evidence.source === 'partly') assert.match(evidence.unsure ?? '', /\w.*\.$/, `${id}: what is unsure`)
  }
})

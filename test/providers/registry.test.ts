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

test('a provider with nobody to ask has no check, and no network is needed to know', () => {
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

test('the nearest provider is of the channel asked for', () => {
  assert.equal(nearestProvider('sendgrid', 'sms')?.channel, 'sms')
  assert.equal(nearestProvider('nodemail', 'email')?.id, 'nodemailer')
})

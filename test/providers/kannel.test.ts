// Kannel: everything is in the address, so nothing of it may be reported, and the address may be private but never
// metadata.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formMistakes } from '../../src/providers/form.ts'
import { kannel } from '../../src/providers/sms/kannel.ts'
import type { OutboundOptions } from '../../src/world/world.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { smsMessage } from '../support/provider-scene.ts'

const account = {
  host: '10.0.0.7',
  port: '13013',
  from: 'Acme',
  user: 'kuser',
  password: "p(a)s's w*rd!~ü",
  webhookUrl: 'https://hooks.example.test/k?token=inbound-key-0001',
}

function gateway(answer: (url: string) => { status: number; body: string }) {
  const world = createFakeWorld()
  const asked: { url: string; reach: OutboundOptions['reach'] }[] = []
  world.fetch = async ({ url }, { reach } = {}) => {
    asked.push({ url, reach })
    return { headers: new Headers(), ...answer(url) }
  }
  return { world, asked }
}

test('a private gateway is reached, to send and to check', async () => {
  const { world, asked } = gateway(() => ({ status: 202, body: '0: Accepted for delivery' }))
  assert.equal((await kannel.send?.(world, smsMessage, account))?.kind, 'sent')
  await kannel.check?.(world, account)
  assert.deepEqual(
    asked.map(({ reach }) => reach),
    ['operator', 'operator'],
  )
})

test('the check names no receiver, so that nothing can be sent', async () => {
  const { world, asked } = gateway(() => ({ status: 400, body: 'Missing receiver number, rejected' }))
  assert.deepEqual(await kannel.check?.(world, account), { kind: 'good' })
  const { searchParams } = new URL(asked[0]?.url ?? '')
  assert.equal(searchParams.has('to'), false)
  assert.deepEqual([searchParams.get('username'), searchParams.get('password')], [account.user, account.password])
})

test('a gateway that repeats the address reports neither the password nor the key of the callback', async () => {
  const { world } = gateway((url) => ({ status: 400, body: url.slice(url.indexOf('?') + 1) }))
  const outcome = await kannel.send?.(world, smsMessage, account)
  const reported = JSON.stringify(outcome)
  assert.match(reported, /password=\[redacted\]/)
  for (const secret of [account.password, encodeURIComponent(account.password), 'inbound-key-0001']) {
    assert.equal(reported.includes(secret), false, secret)
  }
})

test('neither settings nor a passthrough name another receiver or another account', async () => {
  const { world, asked } = gateway(() => ({ status: 202, body: '0: Accepted for delivery' }))
  await kannel.send?.(world, { ...smsMessage, customData: { TO: '+1', pass: 'x', user: 'y', smsc: 'one' } }, account)
  const { searchParams } = new URL(asked[0]?.url ?? '')
  assert.deepEqual(
    [...searchParams.keys()].filter((name) => /^(to|pass|user)$/i.test(name)),
    ['to'],
  )
  assert.equal(searchParams.get('smsc'), 'one')
  for (const name of ['to', 'username', 'pass']) {
    const outcome = await kannel.send?.(world, { ...smsMessage, passthrough: { query: { [name]: 'x' } } }, account)
    assert.equal(outcome?.kind, 'refused', name)
  }
})

test('a receiver is one number: spaces would make many of it', async () => {
  const { world, asked } = gateway(() => ({ status: 202, body: '0: Accepted for delivery' }))
  await kannel.send?.(world, { ...smsMessage, to: '+44 7700 900123' }, account)
  assert.equal(new URL(asked[0]?.url ?? '').searchParams.get('to'), '+447700900123')
})

test('host and port are looked at before anything is sent there', () => {
  const mistakes = (more: object) => Object.keys(formMistakes(kannel.form, { ...account, ...more }))
  assert.deepEqual(mistakes({}), [])
  assert.deepEqual(mistakes({ host: '169.254.169.254' }), ['credentials.host'])
  assert.deepEqual(mistakes({ host: 'a/b' }), ['credentials.host'])
  assert.deepEqual(mistakes({ port: '99999' }), ['credentials.port'])
})

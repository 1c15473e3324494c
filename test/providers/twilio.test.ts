// Twilio: the check of an account on the wire.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { twilio } from '../../src/providers/sms/twilio.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { openNetwork, startVendor } from '../support/integration-scene.ts'

const account = { accountSid: 'ACtest', token: 'secret', from: '+14155550100' }

async function check(t: TestContext, status: number, body: object, credentials: object = account) {
  const seen: unknown[] = []
  const asked: string[] = []
  const address = await startVendor(t, (request, response) => {
    seen.push(request.headers.authorization)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const world = createFakeWorld()
  openNetwork(world, { address, asked })
  return { result: await twilio.check?.(world, credentials), asked, seen }
}

test('the check reads the account and sends nothing', async (t) => {
  const { result, asked, seen } = await check(t, 200, { status: 'active' })
  assert.deepEqual(result, { kind: 'good' })
  assert.deepEqual(asked, ['GET https://api.twilio.com/2010-04-01/Accounts/ACtest.json'])
  assert.deepEqual(seen, [`Basic ${Buffer.from('ACtest:secret').toString('base64')}`])
})

test('a region is part of the host', async (t) => {
  const { asked } = await check(t, 200, { status: 'active' }, { ...account, region: 'dublin.ie1' })
  assert.deepEqual(asked, ['GET https://api.dublin.ie1.twilio.com/2010-04-01/Accounts/ACtest.json'])
})

test('a wrong token, an unknown account, a suspended one and trouble at Twilio are distinguished', async (t) => {
  const wrong = await check(t, 401, { code: 20003, message: 'Authenticate' })
  assert.deepEqual(wrong.result, { kind: 'bad', words: 'Twilio answered 401: Authenticate', field: 'token' })
  const unknown = await check(t, 404, { code: 20404, message: 'not found' })
  assert.deepEqual(unknown.result, { kind: 'bad', words: 'Twilio answered 404: not found', field: 'accountSid' })
  const suspended = await check(t, 200, { status: 'suspended' })
  assert.deepEqual(suspended.result, { kind: 'bad', words: 'The Twilio account is suspended', field: 'accountSid' })
  const trouble = await check(t, 503, {})
  assert.equal(trouble.result?.kind, 'bad')
})

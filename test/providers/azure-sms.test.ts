// Azure Communication Services: the connection string and the signature, against known answers.
import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { test } from 'node:test'
import { azureSigned, readConnectionString } from '../../src/providers/sms/azure-account.ts'
import { azureSms } from '../../src/providers/sms/azure-sms.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { fullMessages } from '../support/provider-contract.ts'

const now = new Date('2024-01-02T03:04:05.678Z')
const key = Buffer.from('fake-shared-key')
const request = {
  url: 'https://contoso.communication.azure.com/sms?api-version=2021-03-07',
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"from":"+18335550100","smsRecipients":[{"to":"+14255550123"}],"message":"Your code is 4821"}',
}
const expected = 'IKERVGXCn3e/jdht143AhQQYPKO4tANzHUMwiqrx06A='

test('the signature is that of the worked example', () => {
  const { headers } = azureSigned(request, key, now)
  assert.deepEqual(headers, {
    'content-type': 'application/json',
    'x-ms-date': 'Tue, 02 Jan 2024 03:04:05 GMT',
    'x-ms-content-sha256': '3Zcyxd3UStyVNBZpSGqYdIdM8QJwWlfbVEYffw/Wiug=',
    authorization: `HMAC-SHA256 SignedHeaders=x-ms-date;host;x-ms-content-sha256&Signature=${expected}`,
  })
})

test('another body, path, host, time or key is another signature', () => {
  const others = [
    azureSigned({ ...request, body: request.body.replace('4821', '4822') }, key, now),
    azureSigned({ ...request, url: `${request.url}&x=1` }, key, now),
    azureSigned({ ...request, url: request.url.replace('contoso', 'fabrikam') }, key, now),
    azureSigned({ ...request, method: 'PUT' }, key, now),
    azureSigned(request, key, new Date(now.getTime() + 1_000)),
    azureSigned(request, Buffer.from('fake-shared-kez'), now),
  ]
  for (const { headers } of others)
    assert.doesNotMatch(headers['authorization'] ?? '', new RegExp(expected.slice(0, 8)))
})

test('what a passthrough adds is signed too', async () => {
  const world = createFakeWorld()
  let asked: Request | undefined
  world.onFetch = (given) => {
    asked = given
    return { status: 500, headers: new Headers(), body: '' }
  }
  const passthrough = { body: { extra: 1 }, query: { probe: 'yes' } }
  const account = { accessKey: `endpoint=https://contoso.communication.azure.com/;accesskey=${key.toString('base64')}` }
  await azureSms.send?.(world, { ...fullMessages.sms, passthrough }, { ...account, from: '+18335550100' })
  assert.ok(asked)
  const body = await asked.text()
  assert.match(body, /"extra":1/)
  const digest = createHash('sha256').update(body).digest('base64')
  const signed = `POST\n/sms?api-version=2021-03-07&probe=yes\n${asked.headers.get('x-ms-date')};contoso.communication.azure.com;${digest}`
  const signature = createHmac('sha256', key).update(signed).digest('base64')
  assert.ok(asked.headers.get('authorization')?.endsWith(`&Signature=${signature}`))
})

test('a connection string names an Azure resource and nothing else', () => {
  const of = (endpoint: string, accesskey = 'ZmFrZS1zaGFyZWQta2V5') =>
    'mistake' in readConnectionString(`endpoint=${endpoint};accesskey=${accesskey}`)
  assert.equal(of('https://contoso.communication.azure.com/'), false)
  assert.equal(of('https://contoso.unitedstates.communication.azure.com'), false)
  assert.equal(of('http://contoso.communication.azure.com/'), true)
  assert.equal(of('https://contoso.communication.azure.com.evil.test/'), true)
  assert.equal(of('https://evil.test/?.communication.azure.com'), true)
  assert.equal(of('https://user@contoso.communication.azure.com/'), true)
  assert.equal(of('https://contoso.communication.azure.com:8443/'), true)
  assert.equal(of('https://169.254.169.254/'), true)
  assert.equal(of('https://contoso.communication.azure.com/', 'no base64!'), true)
  assert.equal('mistake' in readConnectionString('rubbish'), true)
})

test('a repeat is the same to the last byte, with the time the message was made', async () => {
  const world = createFakeWorld()
  const bodies: string[] = []
  world.onFetch = async (given) => {
    bodies.push(await given.text())
    return { status: 500, headers: new Headers(), body: '' }
  }
  const account = {
    accessKey: 'endpoint=https://contoso.communication.azure.com/;accesskey=ZmFrZS1zaGFyZWQta2V5',
    from: '+18335550100',
  }
  const message = { ...fullMessages.sms, id: '018cc8b6-3f88-7000-8000-000000000001' }
  await azureSms.send?.(world, message, account)
  world.advance(60_000)
  await azureSms.send?.(world, message, account)
  assert.equal(bodies[0], bodies[1])
  const madeAt = new Date(0x018cc8b63f88).toUTCString()
  assert.deepEqual(JSON.parse(bodies[0] ?? '').smsRecipients, [
    { to: message.to, repeatabilityRequestId: message.id, repeatabilityFirstSent: madeAt },
  ])
})

// Amazon SNS: the signature of a request, against a known one, and what an account may look like.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formMistakes } from '../../src/providers/form.ts'
import { sns } from '../../src/providers/sms/sns.ts'
import type { OutboundRequest } from '../../src/world/world.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { smsMessage } from '../support/provider-scene.ts'

const account = {
  apiKey: 'AKIAFAKEFAKEFAKE0001',
  secretKey: 'fakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKE',
  region: 'eu-central-1',
}

async function asked(change: object = {}): Promise<OutboundRequest> {
  const world = createFakeWorld('2024-01-02T03:04:05Z')
  const seen: OutboundRequest[] = []
  world.fetch = async (request) => {
    seen.push(request as OutboundRequest)
    return { status: 200, headers: new Headers(), body: '' }
  }
  await sns.send?.(world, { ...smsMessage, to: '+447700900123', from: 'Acme', ...change }, account)
  const [request] = seen
  assert.ok(request)
  return request
}

test('the body and its signature are the known ones', async () => {
  const { body, headers } = await asked()
  assert.equal(
    body,
    'Action=Publish&Version=2010-03-31&PhoneNumber=%2B447700900123&Message=Your%20code%20is%204821' +
      '&MessageAttributes.entry.1.Name=AWS.SNS.SMS.SenderID&MessageAttributes.entry.1.Value.DataType=String' +
      '&MessageAttributes.entry.1.Value.StringValue=Acme',
  )
  assert.equal(
    headers['authorization'],
    'AWS4-HMAC-SHA256 Credential=AKIAFAKEFAKEFAKE0001/20240102/eu-central-1/sns/aws4_request, ' +
      'SignedHeaders=content-type;host;x-amz-date, ' +
      'Signature=e8850108bf448965d7998c9872af04979ab6ff9f5dada78cb2ef32d2af28e810',
  )
})

test('what a passthrough adds is signed with the rest', async () => {
  const plain = await asked()
  const more = await asked({ passthrough: { body: { Subject: 'x' } } })
  assert.match(String(more.body), /Subject=x/)
  assert.notEqual(more.headers['authorization'], plain.headers['authorization'])
})

test('a region that would lead elsewhere is none', () => {
  for (const region of ['eu-central-1', 'us-gov-west-1', 'ap-southeast-2', 'cn-north-1']) {
    assert.deepEqual(formMistakes(sns.form, { ...account, region }), {}, region)
  }
  for (const region of ['x', 'eu-central-1.evil.example', 'eu-central-1/', 'evil.example#-1', 'EU-CENTRAL-1']) {
    assert.deepEqual(Object.keys(formMistakes(sns.form, { ...account, region })), ['credentials.region'], region)
  }
})

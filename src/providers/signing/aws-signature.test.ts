// The signatures that Amazon publishes for its test requests, and what changes them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutboundRequest } from '../../world/world.ts'
import type { AwsAccount } from './aws-signature.ts'
import { signedForAws } from './aws-signature.ts'

const account: AwsAccount = {
  service: 'service',
  region: 'us-east-1',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}
const now = new Date('2015-08-30T12:36:00Z')
const ask = (change: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url: 'https://example.amazonaws.com/',
  method: 'GET',
  headers: {},
  ...change,
})
const authorizationOf = (request: OutboundRequest, by = account, at = now): string =>
  signedForAws(request, by, at).headers['authorization'] ?? ''
const signatureOf = (...given: Parameters<typeof authorizationOf>): string | undefined =>
  /Signature=([0-9a-f]{64})$/.exec(authorizationOf(...given))?.[1]

test('the requests of Amazon’s test suite get the signatures it publishes', () => {
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const session =
    'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=='
  assert.equal(signatureOf(ask()), '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31')
  assert.equal(
    signatureOf(ask({ url: 'https://example.amazonaws.com/?Param2=value2&Param1=value1' })),
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  )
  assert.equal(
    signatureOf(ask({ method: 'POST', headers: form, body: 'Param1=value1' })),
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  )
  assert.equal(
    signatureOf(ask({ method: 'POST' }), { ...account, sessionToken: session }),
    '85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead',
  )
})

test('the worked example of the guide comes out whole', () => {
  const request = ask({
    url: 'https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08',
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
  })
  assert.equal(
    authorizationOf(request, { ...account, service: 'iam' }),
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
  )
})

test('anything that is changed changes the signature', () => {
  const request = ask({ method: 'POST', url: 'https://example.amazonaws.com/v2/a?b=c', body: '{"to":"a"}' })
  const signature = signatureOf(request)
  const others = [
    signatureOf({ ...request, body: '{"to":"b"}' }),
    signatureOf({ ...request, url: 'https://example.amazonaws.com/v2/b?b=c' }),
    signatureOf({ ...request, url: 'https://example.amazonaws.com/v2/a?b=d' }),
    signatureOf({ ...request, url: 'https://other.amazonaws.com/v2/a?b=c' }),
    signatureOf({ ...request, method: 'PUT' }),
    signatureOf({ ...request, headers: { 'content-type': 'text/plain' } }),
    signatureOf(request, { ...account, secretAccessKey: 'another' }),
    signatureOf(request, { ...account, region: 'eu-west-1' }),
    signatureOf(request, account, new Date('2015-08-30T12:36:01Z')),
  ]
  assert.equal(new Set([signature, ...others]).size, others.length + 1)
})

test('what a proxy may change is not signed, and the query travels as it was signed', () => {
  const request = ask({ headers: { 'user-agent': 'a', accept: '*/*' } })
  assert.equal(signatureOf(request), signatureOf(ask()))
  const { url } = signedForAws(ask({ url: 'https://example.amazonaws.com/?q=a+b*&a=%C3%A9' }), account, now)
  assert.equal(url, 'https://example.amazonaws.com/?a=%C3%A9&q=a%20b%2A')
})

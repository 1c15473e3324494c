// Mailgun: the check of a key that may send and nothing else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailgun } from '../../src/providers/email/mailgun.ts'
import { createFakeWorld } from '../support/fake-world.ts'

const account = { apiKey: 'key-1', domain: 'mg.acme.test', from: 'hello@acme.test' }

async function check(statuses: readonly number[]) {
  const asked: string[] = []
  const world = createFakeWorld()
  world.fetch = async (request) => {
    asked.push(`${request.method} ${request.url}`)
    return { status: statuses[asked.length - 1] ?? 500, headers: new Headers(), body: '{"message":"words"}' }
  }
  return { result: await mailgun.check?.(world, account), asked }
}

test('a key that may not look at its domain is tried with a message that has nothing in it', async () => {
  const { result, asked } = await check([401, 400])
  assert.deepEqual(result, { kind: 'good' })
  assert.deepEqual(asked, [
    'GET https://api.mailgun.net/v4/domains/mg.acme.test',
    'POST https://api.mailgun.net/v3/mg.acme.test/messages',
  ])
})

test('a key that may do neither is bad, and so is a domain that is not there', async () => {
  const { result } = await check([401, 401])
  assert.equal(result?.kind === 'bad' && result.field, 'apiKey')
  const elsewhere = await check([403, 404])
  assert.equal(elsewhere.result?.kind === 'bad' && elsewhere.result.field, 'domain')
})

// Braze: what becomes of a message before it is sent, when its recipients are looked up.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EmailMessage } from '../../src/domain/messages/outbound-message.ts'
import { braze } from '../../src/providers/email/braze.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { email } from '../support/outbound-scene.ts'
import { kindOf } from '../support/provider-scene.ts'

const account = { apiKey: 'key', baseUrl: 'https://rest.braze.test', applicationId: 'a', from: 'hello@acme.test' }

async function send(lookup: () => { status: number; body: string }, change: Partial<EmailMessage> = {}) {
  const world = createFakeWorld()
  const paths: string[] = []
  world.onFetch = ({ url }) => {
    const { pathname } = new URL(url)
    paths.push(pathname)
    const answer = pathname === '/users/export/ids' ? lookup() : { status: 201, body: '{"dispatch_id":"d-1"}' }
    return { ...answer, headers: new Headers() }
  }
  const outcome = await braze.send?.(world, email(change), account)
  assert.ok(outcome)
  return { outcome, kind: kindOf(outcome), paths }
}

const found = () => ({ status: 200, body: '{"users":[{"external_id":"u-1"}]}' })

test('an address that is no user’s is refused, and nothing is sent', async () => {
  for (const body of ['{"users":[]}', '{"users":[{"braze_id":"b-1"}]}', '{"users":[null,1]}']) {
    const { kind, paths } = await send(() => ({ status: 200, body }))
    assert.equal(kind, 'refused: bad-recipient')
    assert.deepEqual(paths, ['/users/export/ids'])
  }
})

test('a lookup that fails leaves no one unsure: nothing can have been sent', async () => {
  const cut = (): never => {
    throw new OutboundError('unsure', 'the connection was cut')
  }
  assert.equal((await send(cut)).kind, 'busy')
  for (const [status, body, kind] of [
    [200, 'not JSON', 'busy'],
    [504, '', 'busy'],
    [429, '', 'busy'],
    [401, '', 'misconfigured'],
    [403, '', 'misconfigured'],
    [404, '', 'misconfigured'],
  ] as const) {
    const given = await send(() => ({ status, body }))
    assert.deepEqual([given.kind, given.paths.length], [kind, 1], String(status))
  }
})

test('everyone in copy is looked up too; someone twice there is written to once', async () => {
  const { kind, paths } = await send(found, { cc: ['amy@example.org'] })
  assert.deepEqual([kind, paths.length], ['sent', 3])
})

test('files, and more than one blind copy, are refused before anyone is asked', async () => {
  const file = { name: 'a.txt', mime: 'text/plain', content: 'SGk=' }
  for (const change of [{ attachments: [file] }, { bcc: ['a@example.org', 'b@example.org'] }]) {
    const { kind, paths } = await send(found, change)
    assert.deepEqual([kind, paths], ['refused: bad-content', []])
  }
})

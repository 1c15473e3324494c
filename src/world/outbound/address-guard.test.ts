// Which hosts an outbound call may reach.
import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { test } from 'node:test'
import { outboundAllow } from '../../config/outbound-allow.ts'
import type { Reach } from './address-guard.ts'
import { createAddressGuard, isPrivateHost } from './address-guard.ts'
import type { Terms } from './allow-list.ts'
import { OutboundError } from './outbound-error.ts'

const zone: Record<string, string[]> = {
  'public.example.org': ['1.2.3.4', '2606:4700::1'],
  'rebinding.example.org': ['1.2.3.4', '10.0.0.1'],
  'private.example.org': ['10.0.0.1'],
  'cloud.example.org': ['169.254.169.254'],
  'relay.internal': ['10.0.0.1'],
  'odd.internal': ['1.2.3.4'],
  'empty.example.org': [],
}

function guardOf(...allow: string[]) {
  return createAddressGuard(allow, async (host) => {
    const addresses = zone[host]
    if (addresses === undefined) throw Object.assign(new Error('no'), { code: 'ENOTFOUND' })
    return addresses.map((address) => ({ address, family: isIP(address) }))
  })
}

async function kindOf(host: string, reach: Reach, ...allow: string[]): Promise<string> {
  try {
    await guardOf(...allow).addressesOf(host, reach)
    return 'reachable'
  } catch (error) {
    assert.ok(error instanceof OutboundError, String(error))
    return error.kind
  }
}

test('a guarded call reaches public hosts', async () => {
  assert.equal(await kindOf('public.example.org', 'guarded'), 'reachable')
  assert.equal(await kindOf('PUBLIC.example.org.', 'guarded'), 'reachable')
  assert.equal(await kindOf('1.2.3.4', 'guarded'), 'reachable')
})

test('a guarded call reaches no private host, even when only one of its addresses is private', async () => {
  for (const host of ['private.example.org', 'rebinding.example.org', '10.0.0.1', '[::1]', '[::ffff:127.0.0.1]']) {
    assert.equal(await kindOf(host, 'guarded'), 'refused-address', host)
  }
})

test('a guarded call reaches no name that means something only here, whatever it resolves to', async () => {
  for (const host of ['relay.internal', 'odd.internal'])
    assert.equal(await kindOf(host, 'guarded'), 'refused-address', host)
})

test('the operator’s reach takes in private hosts', async () => {
  for (const host of ['private.example.org', 'rebinding.example.org', 'relay.internal', '127.0.0.1', '::1']) {
    assert.equal(await kindOf(host, 'operator'), 'reachable', host)
  }
})

test('no reach and no list takes in a metadata address', async () => {
  for (const host of [
    'cloud.example.org',
    '169.254.169.254',
    '[fd00:ec2::254]',
    '100.100.100.200',
    'metadata.google.internal',
    'Metadata.',
  ]) {
    for (const reach of ['guarded', 'listed', 'operator'] as const) {
      assert.equal(await kindOf(host, reach, '0.0.0.0/0', '::/0', host), 'refused-address', host)
    }
  }
})

test('the allow-list opens a name, an address or a network, and nothing beside it', async () => {
  for (const entry of ['private.example.org', 'Private.Example.ORG', '10.0.0.1', '10.0.0.0/8']) {
    assert.equal(await kindOf('private.example.org', 'guarded', entry), 'reachable', entry)
    assert.equal(await kindOf('private.example.org', 'listed', entry), 'reachable', entry)
  }
  for (const entry of ['example.org', '10.0.0.2', '10.1.0.0/16', '*']) {
    assert.equal(await kindOf('private.example.org', 'guarded', entry), 'refused-address', entry)
  }
  assert.equal(await kindOf('relay.internal', 'guarded', '10.0.0.0/8'), 'reachable')
})

test('the reach of listed hosts alone leaves out public ones', async () => {
  assert.equal(await kindOf('public.example.org', 'listed'), 'refused-address')
  assert.equal(await kindOf('public.example.org', 'listed', 'public.example.org'), 'reachable')
})

test('a name that does not resolve was not sent to, which is no refusal', async () => {
  assert.equal(await kindOf('nowhere.example.org', 'guarded'), 'not-sent')
  assert.equal(await kindOf('empty.example.org', 'guarded'), 'not-sent')
})

test('a host is known to be private as it is written, and a name that means something elsewhere is not', () => {
  for (const host of ['127.0.0.1', '[::1]', '10.0.0.1', 'localhost', 'Relay.Internal.', '169.254.169.254', 'metadata'])
    assert.equal(isPrivateHost(host), true, host)
  for (const host of ['1.2.3.4', '[2606:4700::1]', 'private.example.org', 'localhost.example.org'])
    assert.equal(isPrivateHost(host), false, host)
})

/** As POSTHORN_OUTBOUND_ALLOW is written. */
async function opened(
  allow: string,
  host: string,
  terms: Partial<Terms> = {},
  reach: Reach = 'listed',
): Promise<boolean> {
  const guard = createAddressGuard(outboundAllow(allow), async () => [{ address: '10.1.2.3', family: 4 }])
  const whole: Terms = { scheme: 'https', port: 443, isTheirs: false, ...terms }
  return guard.addressesOf(host, reach, whole).then(
    () => true,
    () => false,
  )
}

test('an entry with a scheme and a port opens these alone', async () => {
  for (const allow of ['https://10.1.2.3:8443', 'https://10.1.0.0/16:8443', 'https://chat.internal:8443']) {
    const host = allow.includes('chat') ? 'chat.internal' : '10.1.2.3'
    assert.equal(await opened(allow, host, { port: 8443 }), true, allow)
    assert.equal(await opened(allow, host, { port: 443 }), false, allow)
    assert.equal(await opened(allow, host, { port: 5432 }), false, allow)
    assert.equal(await opened(allow, host, { scheme: 'http', port: 8443 }), false, allow)
    assert.equal(await opened(allow, 'other.internal', { port: 8443 }), !allow.includes('chat'), allow)
  }
  assert.equal(await opened('https://10.1.2.3', '10.1.2.3'), true)
  assert.equal(await opened('http://10.1.2.3', '10.1.2.3', { scheme: 'http', port: 80 }), true)
  assert.equal(await opened('smtp://10.1.2.3', '10.1.2.3', { scheme: 'smtp', port: 25 }), true)
  assert.equal(await opened('smtp://10.1.2.3', '10.1.2.3', { scheme: 'http', port: 25 }), false)
})

test('a bare entry keeps its meaning', async () => {
  assert.equal(await opened('10.1.0.0/16', '10.1.2.3', { scheme: 'http', port: 9, isTheirs: true }), true)
})

test('an entry for accounts is closed to addresses that subscribers or events choose', async () => {
  for (const allow of ['accounts+https://10.1.2.3:443', 'accounts+10.1.2.3']) {
    assert.equal(await opened(allow, '10.1.2.3'), true, allow)
    assert.equal(await opened(allow, '10.1.2.3', { isTheirs: true }), false, allow)
  }
})

test('what accounts name is public where the operator says so, whatever its scheme and port', async () => {
  const port = { scheme: 'http', port: 8080 } as const
  assert.equal(await opened('', '10.1.2.3', port, 'operator'), true)
  assert.equal(await opened('', '10.1.2.3', port, 'public'), false)
  assert.equal(await opened('', 'relay.internal', port, 'public'), false)
  assert.equal(await opened('http://10.1.2.3:8080', '10.1.2.3', port, 'public'), true)
  assert.equal(await kindOf('public.example.org', 'public'), 'reachable')
})

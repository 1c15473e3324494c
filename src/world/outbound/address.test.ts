// Which addresses are public, private and metadata.
import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { test } from 'node:test'
import { addNetwork, kindOfAddress } from './address.ts'

const kinds: Record<ReturnType<typeof kindOfAddress>, string[]> = {
  public: [
    '1.1.1.1',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '192.167.255.255',
    '223.255.255.255',
    '2606:4700::1111',
    '2a00:1450:4001::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ],
  private: [
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.7',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::8.8.8.8',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:0:8.8.8.8',
    '64:ff9b::10.0.0.1',
    '64:ff9b:1::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '2002:808:808::1',
    '3fff::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%lo',
    'fec0::1',
    'ff02::1',
    '4000::1',
    'not an address',
    '',
  ],
  metadata: [
    '169.254.169.254',
    '169.254.170.2',
    '169.254.0.23',
    '100.100.100.200',
    '192.0.0.192',
    '168.63.129.16',
    'fd00:ec2::254',
    'fd20:ce::254',
    'fd00:c1::a9fe:a9fe',
    'fd00:a9fe:a9fe::1',
    'fd00:42::42',
    'fe80::a9fe:a9fe',
    'fe80::a9fe:a9fe%eth0',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '::169.254.169.254',
  ],
}

for (const [kind, addresses] of Object.entries(kinds)) {
  for (const address of addresses) {
    test(`"${address}" is ${kind}`, () => assert.equal(kindOfAddress(address), kind))
  }
}

test('a network is an address with a number of bits that fits it, and nothing else', () => {
  for (const text of ['10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8'])
    assert.equal(addNetwork(new BlockList(), text), true)
  for (const text of [
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    'example.org',
    'fe80::1%lo',
    '',
  ]) {
    assert.equal(addNetwork(new BlockList(), text), false, text)
  }
})

// Which addresses are on a listed host.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostNamePattern, isOnHost } from './host-names.ts'

const isOn = (address: string, ...hosts: string[]): boolean => isOnHost(new URL(address), hosts)

test('an address is on a host by its whole name and its port, over https', () => {
  assert.ok(isOn('https://hooks.example.com/x', 'other.example', 'Hooks.example.com'))
  assert.ok(isOn('https://a.example.com/x', '*.example.com'))
  assert.ok(isOn('https://chat.example.com:8443/x', 'chat.example.com:8443'))
  assert.ok(isOn('https://chat.example.com/x', 'chat.example.com:443'))
  for (const address of [
    'http://hooks.example.com/x',
    'https://hooks.example.com:8443/x',
    'https://hooks.example.com.evil.example/x',
    'https://evilhooks.example.com/x',
    'https://hooks.example.com@evil.example/x',
    'https://evil.example/hooks.example.com',
  ]) {
    assert.equal(isOn(address, 'hooks.example.com'), false, address)
  }
  assert.equal(isOn('https://example.com/x', '*.example.com'), false)
  assert.equal(isOn('https://badexample.com/x', '*.example.com'), false)
})

test('hosts are names, not addresses or patterns', () => {
  const pattern = new RegExp(hostNamePattern)
  for (const host of ['a.example', '*.example.com', 'chat:8443', 'localhost']) assert.match(host, pattern)
  for (const host of ['', '*', 'https://a.example', 'a.example/x', 'a..b', '*a.example', 'a b']) {
    assert.doesNotMatch(host, pattern)
  }
})

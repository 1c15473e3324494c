// Origins: those of web pages, and those that web views of apps send.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { webOrigins } from './values.ts'

test('origins of web views of apps are kept as they are written', () => {
  const origins = ['capacitor://localhost', 'ionic://localhost', 'app://My-App:80', 'http://localhost:8100']
  assert.deepEqual(webOrigins(origins.join(', ')), origins)
})

test('what no page and no web view sends is refused', () => {
  const bad = [
    'capacitor://localhost/',
    'capacitor://',
    'capacitor:localhost',
    'capacitor://*',
    'file://localhost',
    'null',
  ]
  for (const value of bad) assert.throws(() => webOrigins(value), /must list origins/, value)
})

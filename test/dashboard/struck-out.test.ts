// Files of a workflow of two environments: the same, also where only one side may see its secrets.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSameFiles } from '../../dashboard/src/pages/workflows/struck-out.ts'

const files = (...lines: string[]) => [{ path: 'order.yaml', text: `${lines.join('\n')}\n` }]
const whole = files(
  'name: Order',
  '  url: https://me:hush@example.com/hooks?token=hush',
  '  headers:',
  '    X-Key: hush',
  '    X-Quoted: "hush: hush"',
  '  webhookUrl: https://example.com/{% if a %}hush{% endif %}',
)
const struck = (host: string, name = 'Order', header = 'X-Key') =>
  files(
    `name: ${name}`,
    `  url: https://[redacted]@${host}/hooks?[redacted]`,
    '  headers:',
    `    ${header}: "[redacted]"`,
    '    X-Quoted: "[redacted]"',
    '  webhookUrl: https://example.com/?[redacted]',
  )

test('what one side may not see is no difference, whichever side it is', () => {
  assert.ok(isSameFiles(whole, whole))
  assert.ok(isSameFiles(whole, struck('example.com')))
  assert.ok(isSameFiles(struck('example.com'), whole))
  assert.ok(isSameFiles(struck('example.com'), struck('example.com')))
})

test('what both sides see is compared, also in a line with a struck-out value', () => {
  assert.ok(!isSameFiles(whole, struck('example.org')))
  assert.ok(!isSameFiles(whole, struck('example.com', 'Orders')))
  assert.ok(!isSameFiles(whole, struck('example.com', 'Order', 'X-Other')))
  assert.ok(!isSameFiles(files('X-Key: one'), files('X-Key: two')))
  assert.ok(!isSameFiles(whole, [...whole, { path: 'order/1.html', text: '' }]))
  assert.ok(!isSameFiles(files('a: b'), [{ path: 'other.yaml', text: 'a: b\n' }]))
})

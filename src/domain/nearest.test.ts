// The nearest word to a slip of the pen.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editDistance, nearest } from './nearest.ts'

test('the distance is the fewest letters to change, add or take away', () => {
  assert.equal(editDistance('kitten', 'sitting'), 3)
  assert.equal(editDistance('', 'abc'), 3)
  assert.equal(editDistance('abc', 'abc'), 0)
})

test('the nearest of the candidates is found, whatever the case', () => {
  assert.equal(nearest('SendGird', ['twilio', 'sendgrid', 'nodemailer']), 'sendgrid')
  assert.equal(nearest('x', []), undefined)
})

test('a word of any length is compared quickly', () => {
  assert.equal(nearest('s'.repeat(1_000_000), ['sns']), 'sns')
})

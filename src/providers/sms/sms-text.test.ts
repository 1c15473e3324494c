// The alphabet of an SMS, how many it becomes, and numbers as digits.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digitsOf, isGsm, segmentsOf } from './sms-text.ts'

test('the GSM alphabet is distinguished from any other', () => {
  for (const text of ['', 'Hello', 'Größe? à ñ Ω\n', '€ [ok] {x} ~ ^ | \\', '@£$¥'])
    assert.equal(isGsm(text), true, text)
  for (const text of ['“quoted”', 'ç', 'á', '–', '你好', '👋', 'tab\t', '`']) assert.equal(isGsm(text), false, text)
})

const plain = (count: number): string => 'a'.repeat(count)
const foreign = (count: number): string => 'ж'.repeat(count)

const known: [string, string, number][] = [
  ['nothing', '', 0],
  ['one character', 'a', 1],
  ['160 of GSM', plain(160), 1],
  ['161 of GSM', plain(161), 2],
  ['306 of GSM', plain(306), 2],
  ['307 of GSM', plain(307), 3],
  ['a euro sign counts two: 160 places', `${plain(158)}€`, 1],
  ['a euro sign counts two: 161 places', `${plain(159)}€`, 2],
  ['70 of another alphabet', foreign(70), 1],
  ['71 of another alphabet', foreign(71), 2],
  ['134 of another alphabet', foreign(134), 2],
  ['135 of another alphabet', foreign(135), 3],
  ['one foreign character makes all of it foreign', `${plain(70)}ж`, 2],
  ['35 emoji are 70 units', '👋'.repeat(35), 1],
  ['36 emoji are 72 units', '👋'.repeat(36), 2],
]
for (const [what, text, segments] of known) {
  test(`${what}: ${segments}`, () => assert.equal(segmentsOf(text), segments))
}

test('a number is its digits, without the sign or the zeros of an international call', () => {
  assert.equal(digitsOf('+49 (170) 123-45'), '4917012345')
  assert.equal(digitsOf('0049170'), '49170')
  assert.equal(digitsOf('07700 900123'), '07700900123')
  assert.equal(digitsOf('none'), '')
})

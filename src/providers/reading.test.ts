// Tests of reading what others sent: exact numbers, and texts that were chosen to be slow.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cpuMsOf } from '../../test/support/turn-cpu.ts'
import { readingOfExactJson } from './reading.ts'

/** Many times what it takes; what is read again from every place in it takes minutes. */
const soonMs = 2_000
const length = 400_000

describe('Exact JSON', () => {
  it('keeps the digits of long whole numbers and nothing else', () => {
    const read = readingOfExactJson(
      '{"id":12345678901234567,"under":-12345678901234567,"part":1.12345678901234567,"power":12345678901234567e2,' +
        String.raw`"words":"\\","said":"a \" 12345678901234567, \\\" 12345678901234567","short":7,"list":[1234567890123456]}`,
    )
    assert.equal(read.id('id'), '12345678901234567')
    assert.equal(read.id('under'), '-12345678901234567')
    assert.equal(read.number('part'), 1.1234567890123457)
    assert.equal(typeof read.value('power'), 'number')
    assert.equal(read.string('words'), '\\')
    assert.equal(read.string('said'), 'a " 12345678901234567, \\" 12345678901234567')
    assert.equal(read.number('short'), 7)
    assert.equal(read.string('list.0'), '1234567890123456')
  })

  it('reads a text of many megabytes beside a long number', () => {
    const read = readingOfExactJson(`{"id":12345678901234567,"file":"${'QUJD'.repeat(4_000_000)}"}`)
    assert.equal(read.id('id'), '12345678901234567')
    assert.equal(read.string('file')?.length, 16_000_000)
  })

  for (const [name, text] of [
    ['digits before a point', `${'1'.repeat(length)}.`],
    ['digits before an exponent', `[${'1'.repeat(length)}e]`],
    ['quotation marks that end no text', `1234567890123456"${'\\"'.repeat(length)}`],
    ['backslashes', `1234567890123456"${'\\'.repeat(length)}`],
    ['more digits than a number has', '1'.repeat(8_000_000)],
  ] as const) {
    it(`is not held up by ${name}`, () => {
      const tookMs = cpuMsOf(() => readingOfExactJson(text))
      assert.ok(tookMs < soonMs, `${tookMs} ms`)
    })
  }
})

// What a shown difference leaves out of custom steps.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textDiff } from '../../domain/workflows/text-diff.ts'
import { comparable, holdsHidden, withoutNumbers } from './hidden-values.ts'

const file = (text: string) => [{ path: 'a.yaml', text }]
const shown = (text: string): string => withoutNumbers(comparable([], file(text)).after)
const diff = (before: string, after: string): string[] => {
  const texts = comparable(file(before), file(after))
  return textDiff(texts.before, texts.after).map(withoutNumbers)
}
const step = (headers: string, url = 'https://x.example/'): string =>
  `name: A # mine\nsteps:\n  - template: {type: custom}\n    metadata:\n      url: ${url}\n      headers: ${headers}\n`

test('header values are not shown, however they are written', () => {
  for (const headers of ['{A: hush, B: "hush"}', "{A: !!str hush, B: 'hush'}", '\n        A: &a hush\n        B: *a'])
    assert.doesNotMatch(shown(step(headers)), /hush/, headers)
  assert.equal(shown(step('{A: hush}')), step('{A: [redacted]}'))
  assert.equal(
    shown(step('\n        A: |\n          hush\n          more\n        B: >-\n          hush')).includes('hush'),
    false,
  )
  assert.doesNotMatch(shown(`x: &h {A: hush}\n${step('*h')}`), /hush/)
  assert.doesNotMatch(shown(`x: &s ["hush"]\n${step('{A: *s}')}`), /hush/)
  assert.doesNotMatch(shown(JSON.stringify({ steps: [{ metadata: { headers: { A: 'hush' } } }] })), /hush/)
})

test('values of a query are not shown, unless they are templates', () => {
  const url = 'https://x.example/?token=hush&id={{ payload.id }}&bare'
  for (const quote of ['', '"', "'"]) {
    const hidden = 'https://x.example/?token=[redacted]&id={{ payload.id }}&[redacted]'
    assert.equal(shown(step('{}', `${quote}${url}${quote}`)), step('{}', `${quote}${hidden}${quote}`))
  }
})

test('everything else is shown as it is written', () => {
  const text = `${step('{}')}# Authorization: hush\n  - metadata: {body: {headers: {A: hush}}}\n`
  assert.equal(shown(text), text)
  assert.equal(holdsHidden(file(text)), false)
  assert.equal(holdsHidden(file(step('{A: hush}'))), true)
  assert.equal(holdsHidden(file(step('{}', 'https://x.example/?token=hush'))), true)
})

test('a value that changed is a difference, and one that did not is none', () => {
  assert.deepEqual(diff(step('{A: one}'), step('{A: one}')), [])
  const lines = diff(step('{A: one, B: two}'), step('{A: two, B: one}'))
  assert.deepEqual(lines.slice(-2), [
    '-       headers: {A: [redacted], B: [redacted]}',
    '+       headers: {A: [redacted], B: [redacted]}',
  ])
  assert.notDeepEqual(diff(step('{}', 'https://x.example/?a=1'), step('{}', 'https://x.example/?a=2')), [])
})

test('a file that is no YAML is not shown, for no one can say what in it is a header', () => {
  assert.equal(shown('headers: [hush\n').includes('hush'), false)
})

test('a file that holds itself is shown like any other', () => {
  assert.equal(shown('&a\nsteps: *a\n'), '&a\nsteps: *a\n')
})

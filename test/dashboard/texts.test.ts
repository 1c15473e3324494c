// Files with the texts of a locale, as the translations page reads them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textsOfFile } from '../../dashboard/src/pages/translations/texts.ts'

const read = (content: unknown) => textsOfFile('de.json', JSON.stringify(content))

test('texts in groups get whole keys; numbers and booleans are texts as well', () => {
  assert.deepEqual(read({ order: { shipped: 'Unterwegs', most: 3 }, beta: false, bye: '' }), {
    'order.shipped': 'Unterwegs',
    'order.most': '3',
    beta: 'false',
    bye: '',
  })
})

test('a file with a null or a list is refused, and the key is named', () => {
  assert.throws(
    () => read({ a: 'A', order: { shipped: null } }),
    /^Error: de\.json is not imported: “order\.shipped” is null/,
  )
  assert.throws(() => read({ a: 'A', days: ['Mo', 'Di'] }), /^Error: de\.json is not imported: “days” is a list/)
})

test('a file that holds no texts is refused', () => {
  for (const content of [{}, { order: {} }, ['a'], 'a', null])
    assert.throws(() => read(content), /de\.json holds no texts/)
  assert.throws(() => textsOfFile('de.json', 'no JSON'), /de\.json holds no texts/)
})

// How much markup there may be: mail that people send passes, and what would take its readers long does not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnsOf } from '../../test/support/turn-cpu.ts'
import { demandFewTags } from './markup.ts'

const cell = (style: string): string =>
  `<td align="left" valign="top" width="120" bgcolor="#ffffff" class="cell" style="${style}">Some words &amp; more</td>`
const style =
  'padding: 4px 8px 4px 8px; border: 1px solid #cccccc; font-family: Arial, Helvetica, sans-serif; font-size: 12px; line-height: 18px; color: #333333; background: #ffffff'

test('a report of 300 KB with styles in each cell passes', () => {
  const rows = `<tr style="height: 20px">${cell(style).repeat(5)}</tr>`.repeat(200)
  const html = `<table>${rows}</table>`
  assert.ok(html.length > 280_000, String(html.length))
  demandFewTags('template.content', html)
  const wide = `<tr>${cell('color:#333').repeat(8)}</tr>`.repeat(300)
  assert.ok(wide.length > 250_000, String(wide.length))
  demandFewTags('template.content', `<table>${wide}</table>`)
})

test('words of a value, and what only looks like a tag, are no attributes', () => {
  demandFewTags('template.content', `<p title="${'a '.repeat(100_000)}">x</p>`)
  demandFewTags('template.content', `1 < 2 ${'a '.repeat(100_000)}`)
})

for (const [name, html] of Object.entries({
  'attributes of one tag': `<p ${'a '.repeat(100_000)}>`,
  'attributes with values': `<p ${'a=1 '.repeat(60_000)}>`,
  'attributes divided by slashes': `<p ${'a/'.repeat(60_000)}>`,
  'attributes divided by quotes': `<p ${'a"" '.repeat(60_000)}>`,
  'values without anything between them': `<p ${"a='1'".repeat(60_000)}>`,
  'attributes of many tags': '<p a b c d e f g h>'.repeat(8_000),
  'attributes behind a value that does not end': `${'<p a=b c d>'.repeat(18_000)}<p a="`,
  escapes: '&amp;'.repeat(60_000),
})) {
  test(`too many: ${name}`, () => {
    const demand = () => demandFewTags('template.content', html)
    assert.ok(turnsOf(() => assert.throws(demand, /tags, attributes and escapes/)) < 3)
  })
}

test('a tag that is mostly blanks or signs is looked at once', () => {
  const turns = turnsOf(() => {
    for (const sign of [' ', '=', '"', "'", '/', "a='", 'a="', ' =']) {
      try {
        demandFewTags('template.content', `<p a${sign.repeat(100_000)}`)
      } catch {
        // Too many, as it may be.
      }
    }
  })
  assert.ok(turns < 5, `${turns} turns`)
})

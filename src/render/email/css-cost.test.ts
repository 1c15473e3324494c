// CSS that takes for ever to inline is left in its <style>; ordinary CSS is inlined.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { turnsOf } from '../../../test/support/turn-cpu.ts'
import { inlineCss, inlineTemplateCss } from './inline-css.ts'

const siblings = '<b></b>'.repeat(1_400)
const nested = `${'<div>'.repeat(90)}x${'</div>'.repeat(90)}`.repeat(15)

const slow: Record<string, [css: string, body: string]> = {
  // 44 s.
  'siblings of siblings': ['i ~ b ~ b{color:red}', siblings],
  'one sibling of very many': ['i ~ b{color:red}', siblings],
  'what holds what holds something': ['*:has(*:has(b)){color:red}', nested],
  'what holds something': ['*:has(b){color:red}', nested],
  // 6.8 s.
  'several parts in a negation': ['*:not(b * * *){color:red}', nested],
  'negations in negations': [`${'*:not('.repeat(8)}b${')'.repeat(8)}{color:red}`, nested],
  'alternatives in alternatives': ['*:is(*:where(b)){color:red}', nested],
  'a selector spelled by escapes': ['*:\\68 as(b){color:red}', nested],
  // 5.5 s.
  'many declarations': [`b{${Array.from({ length: 3_000 }, (_, index) => `--a${index}:1`).join(';')}}`, siblings],
  'many classes': [`b${'.a'.repeat(20_000)}{color:red}`, '<b></b>'],
  'half an attribute, many times': [`b${'[a'.repeat(20_000)}{color:red}`, '<b></b>'],
  'a comment without end': ['/*'.repeat(40_000), siblings],
  // 5 to 7 s each: a text that hides a selector from whoever does not read it as the inliner does.
  'a brace in an attribute': ['i ~ b ~ b[a!="}"]{color:red}', siblings],
  'comments in texts': ['a{content:"/*"} i ~ b ~ b{color:red} a{content:"*/"}', siblings],
  // What takes selectors apart needs twice as long for each further character.
  'a function that does not end': [`b:x(${'a'.repeat(60)}{color:red}`, '<b></b>'],
  'a count beside a sibling': ['i:nth-child(3) ~ b{color:red}', siblings],
  'many names for one long class': [
    Array.from({ length: 4_000 }, (_, index) => `.a${index}{color:red}`).join(''),
    `<b class="${'a '.repeat(100_000)}"></b>`,
  ],
  'many declarations of its own': ['b{color:red}', `<b style="${'--a:1;'.repeat(4_000)}"></b>`.repeat(10)],
  'comments without end of its own': ['b{color:red}', `<b style="${'a:/*'.repeat(70_000)}"></b>`],
  'blanks in a value': [`td{width:a${' '.repeat(90_000)}b}`, '<td></td>'],
}

for (const [name, [css, body]] of Object.entries(slow)) {
  test(`CSS is left where it stands: ${name}`, { timeout: 60_000 }, () => {
    const html = `<style>${css}</style>${body}`
    const turns = turnsOf(() => assert.equal(inlineCss(html), html))
    assert.ok(turns < 5, `${turns} turns`)
  })
}

test('CSS is left where it stands: a style that does not end', () => {
  const html = `${siblings}<style>i ~ b ~ b{color:red}`
  assert.ok(turnsOf(() => assert.equal(inlineCss(html), html)) < 5)
})

for (const [name, html] of Object.entries({
  // Looked for from each of them to the end of the document.
  'beginnings of codes': `<style>b{color:red}</style><b></b>${'{{'.repeat(140_000)}`,
  'codes of other templates': `<style>b{color:red}</style><b></b>${'{{}}'.repeat(70_000)}`,
  // Without end.
  'a variable that stands for itself': '<style>b{--a:var(--a);color:red;width:var(--a)}</style><b></b>',
  'a variable of its own that stands for itself':
    '<style>b{color:red;width:var(--a)}</style><b style="--a:var(--a)"></b>',
  'variables that double': `<style>b{color:red;${Array.from(
    { length: 40 },
    (_, index) => `--b${index + 1}:var(--b${index}) var(--b${index})`,
  ).join(';')};width:var(--b40)}</style><b></b>`,
})) {
  test(`CSS is inlined in little time: ${name}`, { timeout: 60_000 }, () => {
    assert.ok(turnsOf(() => assert.match(inlineCss(html), /<b style="[^"]*color: red;/)) < 5)
  })
}

test('a style without an end is read to the end, also where the template is inlined', () => {
  assert.equal(inlineTemplateCss('<b>{{ a }}</b><style>b:first-child{color:red}'), undefined)
})

test('selectors are not kept forever', () => {
  const parser = createRequire(createRequire(import.meta.url).resolve('juice')).resolve('slick/parser')
  const cache = createRequire(import.meta.url).cache
  inlineCss('<style>b{color:red}</style><b></b>')
  const before = cache[parser]
  assert.ok(before)
  for (let round = 0; round < 5; round += 1) {
    const css = Array.from({ length: 2_400 }, (_, index) => `.x${round}-${index}{color:red}`).join('')
    inlineCss(`<style>${css}</style><b></b>`)
  }
  assert.match(inlineCss('<style>b{color:red}</style><b></b>'), /<b style="color: red;">/)
  assert.notEqual(cache[parser], before)
})

test('variables are put in their places', () => {
  const html = '<style>:root{--main:red} b{color:var(--main);margin:calc(1px + 2px)}</style><b style="width:1px"></b>'
  assert.match(inlineCss(`<style>b{--main:red;color:var(--main)}</style><b></b>`), /<b style="color: red;">/)
  assert.match(inlineCss(html), /margin: calc\(1px \+ 2px\)/)
})

test('the CSS of a report of 200 rows is inlined', () => {
  const cell = '<td style="padding:4px 8px;border:1px solid #ccc;font-size:12px;color:#333">value</td>'
  const css = `td{font-family:Arial} tr:nth-child(even){background:#eee} .head, .foot{color:blue} a:hover{color:red}
    #outlook a{padding:0} .x::before{content:"x"} @media (max-width:600px){td{display:block}}`
  const html = `<style>${css}</style><table>${`<tr>${cell.repeat(5)}</tr>`.repeat(200)}</table>`
  assert.match(inlineCss(html), /<td style="font-family: Arial;/)
})

for (const css of [
  'b{color:red}',
  '.x > b:nth-child(2n + 1), .x b:last-child{color:red}',
  '.x b:not(.y){color:red}',
  'b[title~=y]{color:red} a ~ b{color:red}',
  '/* a note */ @media (max-width:9px){b{color:blue}} .x b{color:red}',
]) {
  test(`CSS is inlined: ${css}`, () => {
    const html = `<style>${css}</style><div class="x"><a></a><b title="y"></b><b title="y"></b><b title="y"></b></div>`
    assert.match(inlineCss(html), /<b title="y" style="color: red;">/)
  })
}

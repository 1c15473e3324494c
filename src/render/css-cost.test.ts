// CSS that takes for ever to inline is left in its <style>; ordinary CSS is inlined.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inlineCss } from './inline-css.ts'

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
}

for (const [name, [css, body]] of Object.entries(slow)) {
  test(`CSS is left where it stands: ${name}`, { timeout: 60_000 }, () => {
    const html = `<style>${css}</style>${body}`
    const began = process.cpuUsage()
    assert.equal(inlineCss(html), html)
    const { user } = process.cpuUsage(began)
    assert.ok(user < 500_000, `${user} µs`)
  })
}

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

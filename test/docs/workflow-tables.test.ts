// What the tables of docs/workflows.md say is true: filters print it, operators hold, settings are accepted, nothing is left out.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { filterKinds, filterOperators, previousStepTypes } from '../../src/domain/conditions/condition.ts'
import { holds } from '../../src/domain/conditions/condition-comparison.ts'
import { forms } from '../../src/domain/conditions/json-logic.ts'
import { operators } from '../../src/domain/conditions/json-logic-operators.ts'
import { delayMistakes, digestMistakes } from '../../src/domain/time/timing-mistakes.ts'
import { runnableStepTypes } from '../../src/domain/workflows/workflow.ts'
import { templateMistakes } from '../../src/render/check.ts'
import { projectRoot } from '../support/project-root.ts'
import { plain } from '../support/render-scene.ts'
import { blocksOf } from './blocks.ts'

const page = readFileSync(join(projectRoot, 'docs/workflows.md'), 'utf8')
const blocks = blocksOf('docs/workflows.md', page)

/** The text below a heading, up to the next one of any level. */
function section(heading: string): string {
  const start = page.indexOf(`\n${heading}\n`)
  assert.ok(start > 0, heading)
  const end = page.indexOf('\n#', start + heading.length)
  return page.slice(start, end)
}

/** Rows of the tables of a section, heads left out, each cell without the ticks around it. */
function rows(heading: string): string[][] {
  const lines = section(heading).split('\n')
  return lines
    .filter((line, index) => line.startsWith('| ') && !/^\|[-|]+\|$/.test(lines[index + 1] ?? ''))
    .map((line) =>
      line
        .slice(2, -2)
        .split(/ (?<!\\)\| /)
        .map(bare),
    )
}

const bare = (cell: string): string =>
  cell
    .trim()
    .replaceAll('\\|', '|')
    .replace(/^`(.*)`$/, '$1')

test('every filter prints what the page says', () => {
  const payload = JSON.parse(blocks.find(({ text }) => text.includes('"price": 1234.5'))?.text ?? '{}')
  const found = rows('### Filters')
  assert.ok(found.length > 15)
  for (const [template = '', prints] of found) assert.equal(plain(template, payload).trim(), prints, template)
})

test('every operator holds as the page says, and all of them are there', () => {
  const found = rows('### Operators')
  assert.deepEqual(found.map(([operator]) => operator).sort(), [...filterOperators].sort())
  for (const [operator, , field = '', expected = '', answer] of found) {
    const held = holds(operator as (typeof filterOperators)[number], {
      type: 'GROUP',
      actual: JSON.parse(field),
      expected,
    })
    assert.equal(held ? 'yes' : 'no', answer, `${operator} ${field} ${expected}`)
  }
})

test('every kind of condition is there', () => {
  const text = section('### What a condition can ask')
  for (const word of [...filterKinds, ...previousStepTypes]) assert.ok(text.includes(`\`${word}\``), word)
})

test('every operator of JSON logic is there, and no other', () => {
  const listed = rows('### JSON logic').flatMap(([, names = '']) => [...`\`${names}\``.matchAll(/`([^`{"]+?)`/g)])
  const names = listed.map(([, name]) => name).filter((name) => name !== ', ')
  assert.deepEqual([...new Set(names)].sort(), [...operators.keys(), ...forms.keys()].sort())
})

test('the settings of delays and digests are accepted', () => {
  const settings = (heading: string) => rows(heading).flatMap(([cell = '']) => (cell.startsWith('{') ? [cell] : []))
  assert.equal(settings('### Delay').length, 5)
  assert.equal(settings('### Digest').length, 4)
  for (const text of settings('### Delay')) assert.deepEqual(delayMistakes(JSON.parse(text)), [], text)
  for (const text of settings('### Digest')) assert.deepEqual(digestMistakes(JSON.parse(text)), [], text)
})

test('every step type has an example, and every template block can be used', () => {
  for (const type of runnableStepTypes) assert.ok(page.includes(`"type": "${type}"`), type)
  const templates = blocks.filter(({ language }) => language === 'liquid')
  assert.ok(templates.length > 0)
  for (const { text } of templates) assert.deepEqual(templateMistakes({ type: 'in_app', content: text }), [])
})

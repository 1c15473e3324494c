// Pages are read one after the other, on one service: no page creates what another has created, or repeats its events.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { slugOf } from '../../src/domain/delivery/integration.ts'
import { projectRoot } from '../support/project-root.ts'
import { blocksOf } from './blocks.ts'

const pages = ['README.md', ...readdirSync(join(projectRoot, 'docs')).flatMap((name) => pageOf(name))]

function pageOf(name: string): string[] {
  return name.endsWith('.md') ? [`docs/${name}`] : []
}

/** What its commands send to that path. */
function bodiesIn(page: string, path: RegExp): Record<string, unknown>[] {
  const blocks = blocksOf(page, readFileSync(join(projectRoot, page), 'utf8'))
  const commands = blocks.filter(({ language, notRun }) => language === 'sh' && notRun === undefined)
  return commands.flatMap(({ text }) =>
    [...text.matchAll(/^curl "?(?:\$API|http:\/\/localhost:3000)(\S*?)"? -H [^']*--json '([^']*)'/gm)].flatMap(
      ([, to = '', body = '']) => (path.test(to) ? [JSON.parse(body)] : []),
    ),
  )
}

function workflowsIn(page: string): string[] {
  const made = bodiesIn(page, /^\/v[12]\/workflows$/).map(({ workflowId, name }) =>
    String(workflowId ?? slugOf(`${name}`)),
  )
  const files = readdirSync(join(projectRoot, 'docs/examples/workflows')).map((name) => basename(name, '.yaml'))
  return page === 'docs/recipes.md' ? [...made, ...files] : made
}

const eventsIn = (page: string): string[] =>
  bodiesIn(page, /^\/v1\/events\/trigger/).flatMap(({ transactionId }) =>
    typeof transactionId === 'string' ? [transactionId] : [],
  )

/** Names that more than one page has. */
function shared(namesIn: (page: string) => readonly string[]): string[] {
  const found = new Map<string, Set<string>>()
  for (const page of pages) {
    for (const name of namesIn(page)) found.set(name, (found.get(name) ?? new Set()).add(page))
  }
  assert.ok(found.size > 5, `${found.size} names`)
  return [...found].flatMap(([name, where]) => (where.size > 1 ? [`${name}: ${[...where].join(', ')}`] : []))
}

test('every page has workflows of its own, so that none is replaced or renamed on the way', () => {
  assert.deepEqual(shared(workflowsIn), [])
})

test('every page has events of its own, so that none is answered as a repeat', () => {
  assert.deepEqual(shared(eventsIn), [])
})

// What the guides print works: every command and snippet is run against a service, in order, as it stands there.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { projectRoot } from '../support/project-root.ts'
import type { Block } from './blocks.ts'
import { blocksOf } from './blocks.ts'
import { followGuide, missingTool } from './follow.ts'

const pages = readdirSync(join(projectRoot, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)
const documents = pages.map((page) => ({
  page,
  blocks: blocksOf(page, readFileSync(join(projectRoot, page), 'utf8')),
}))

/** Testing is read after getting started, on the same service, and a test suite runs more than once. */
function wholeVisit(page: string, blocks: readonly Block[]): readonly Block[] {
  if (page !== 'docs/testing.md') return blocks
  const first = documents.find((document) => document.page === 'docs/getting-started.md')?.blocks ?? []
  return [...first, ...blocks, ...blocks.filter(({ language }) => language === 'js')]
}

for (const { page, blocks } of documents) {
  if (!blocks.some(({ language, notRun }) => ['sh', 'js'].includes(language) && notRun === undefined)) continue
  test(`${page} works as it stands there`, async (t) => {
    if (missingTool !== undefined) return t.skip(`there is no ${missingTool}`)
    const mistakes = await followGuide(wholeVisit(page, blocks))
    assert.ok(mistakes.length === 0, mistakes.join('\n'))
  })
}

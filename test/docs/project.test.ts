// What README and CONTRIBUTING print works, followed to the letter in a copy of the project.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { projectRoot } from '../support/project-root.ts'
import { blocksOf } from './blocks.ts'
import { followInProject, missingTool } from './follow.ts'

const read = (page: string) => blocksOf(page, readFileSync(join(projectRoot, page), 'utf8'))

test('README works as it stands there, from npm start on', async (t) => {
  if (missingTool !== undefined) return t.skip(`there is no ${missingTool}`)
  const mistakes = await followInProject(read('README.md'), '')
  assert.ok(mistakes.length === 0, mistakes.join('\n'))
})

/** What the recipes say at their ends, once for all of them. */
const check = 'npm run docs && npm run check -- --fix'

test('the recipes of CONTRIBUTING make a project that passes the checks, and tests that pass', async (t) => {
  if (missingTool !== undefined) return t.skip(`there is no ${missingTool}`)
  const tests =
    'WRITE_GOLDEN=1 CONTRACT=acme-sms npm test -- api/labels src/config.test providers/contract-sms db/environment-keys'
  const mistakes = await followInProject(read('CONTRIBUTING.md'), `${check}\n${tests}`)
  assert.ok(mistakes.length === 0, mistakes.join('\n'))
})

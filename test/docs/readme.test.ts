// What README prints works, followed to the letter in a copy of the project, from npm start on.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { projectRoot } from '../support/project-root.ts'
import { blocksOf } from './blocks.ts'
import { followInProject, missingTool } from './follow.ts'

test('README works as it stands there', async (t) => {
  if (missingTool !== undefined) return t.skip(`there is no ${missingTool}`)
  const page = readFileSync(join(projectRoot, 'README.md'), 'utf8')
  const mistakes = await followInProject(blocksOf('README.md', page), '')
  assert.ok(mistakes.length === 0, mistakes.join('\n'))
})

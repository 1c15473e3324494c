// The recipes of CONTRIBUTING work to the letter, followed in a copy of the project, one after the other.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { projectRoot } from '../support/project-root.ts'
import { blocksOf } from './blocks.ts'
import { followInProject, missingTool } from './follow.ts'

const blocks = blocksOf('CONTRIBUTING.md', readFileSync(join(projectRoot, 'CONTRIBUTING.md'), 'utf8'))
/** What the recipes make and edit. */
const paths = blocks.flatMap(({ path }) => (path === undefined || path.endsWith('.sql') ? [] : [path]))

/** What `npm run check -- --fix` does, of what the recipes touch and all that it needs: the whole takes twice as long. */
const check = `npm run docs
node_modules/.bin/biome check --write ${paths.join(' ')}
echo '{ "extends": "./tsconfig.json", "include": ${JSON.stringify(paths)} }' > tsconfig.recipes.json
node_modules/.bin/tsc -p tsconfig.recipes.json
rm tsconfig.recipes.json`
const tests =
  'WRITE_GOLDEN=1 CONTRACT=acme-sms npm test -- api/labels src/config.test providers/contract-sms db/environment-keys'

test('the recipes make a project that passes the checks, and tests that pass', async (t) => {
  if (missingTool !== undefined) return t.skip(`there is no ${missingTool}`)
  assert.ok(paths.length > 10)
  const mistakes = await followInProject(blocks, `${check}\n${tests}`)
  assert.ok(mistakes.length === 0, mistakes.join('\n'))
})

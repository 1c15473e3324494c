// What pages load stays small.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { projectRoot } from '../support/project-root.ts'

/** In bytes, gzipped. */
const budgets = { 'client.js': 8 * 1024, 'inbox.js': 30 * 1024 }

for (const [name, budget] of Object.entries(budgets)) {
  test(`${name} has at most ${budget / 1024} kB, gzipped`, (context) => {
    const size = gzipSync(readFileSync(join(projectRoot, 'dist', 'inbox', name))).length
    context.diagnostic(`${size} bytes`)
    assert.ok(size <= budget, `${size} bytes`)
  })
}

// A short soak: the built service killed again and again under load, and a ledger that says what it owes.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { projectRoot } from '../support/project-root.ts'

/** POSTHORN_SOAK_SEED repeats a failure. */
const seed = process.env['POSTHORN_SOAK_SEED'] ?? Math.random().toString(36).slice(2, 10)
/** A sample; `npm run soak` kills for as long as one likes, in every scene. */
const size = ['--kills', '3', '--events', '150', '--interval', '1-2']

test(`nothing acknowledged is lost when the service is killed again and again (seed ${seed})`, async (t) => {
  const results = await mkdtemp(join(tmpdir(), 'posthorn-soak-results-'))
  t.after(() => rm(results, { recursive: true, force: true }))
  const args = ['--import', 'tsx', 'soak/main.ts', '--scene', 'one-node', ...size, '--seed', seed, '--results', results]
  const { code, output } = await run(args)
  t.diagnostic(output)
  assert.equal(code, 0, output)
  assert.doesNotMatch(output, /internal error/)
})

function run(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: projectRoot, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.on('close', (code) => resolve({ code, output }))
  })
}

// A short run of `npm run fuzz` against the built service: what is generated from the OpenAPI document breaks nothing.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { createTestDatabase } from '../support/database.ts'
import { projectRoot } from '../support/project-root.ts'
import { fuzzSeed } from '../support/random.ts'

/** Half of them to warm up. */
const requests = '500'

test('no generated request is answered with a fault, late, or against the document', async (t) => {
  const seed = fuzzSeed()
  t.diagnostic(`seed ${seed}: repeat with npm run fuzz -- --requests ${requests} --seed ${seed}`)
  const database = await createTestDatabase({ empty: true })
  try {
    const args = ['--import', 'tsx', 'fuzz/main.ts', '--requests', requests, '--seed', String(seed)]
    const { code, output } = await run(args, { DATABASE_URL: database.url })
    assert.equal(code, 0, output)
    const { sent, findings, operationsReached } = JSON.parse(/^\{$[\s\S]*?^\}$/m.exec(output)?.[0] ?? '{}')
    assert.deepEqual([sent >= Number(requests), findings], [true, 0])
    assert.ok(operationsReached > 40, `only ${operationsReached} operations had a good answer`)
  } finally {
    await database.drop()
  }
})

function run(
  args: readonly string[],
  variables: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: projectRoot,
      env: { ...process.env, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.on('close', (code) => resolve({ code, output }))
  })
}

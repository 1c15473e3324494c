// A configuration of hundreds of workflows in one call: it is checked, compared and answered in turns.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, test } from 'node:test'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { listen } from '../support/raw-socket.ts'
import { watchWork } from '../support/turn-cpu.ts'

let app: TestApp
let port: number
before(async () => {
  app = await createTestApp()
  port = await listen(app)
})
after(() => app.close())

const fields = Object.fromEntries(
  Array.from({ length: 10 }, (_, at) => [`field${at}`, { type: 'string', minLength: at, pattern: '^[a-z]+$' }]),
)
const workflow = (at: number): object => ({
  name: `Workflow ${at}`,
  workflowId: `workflow-${at}`,
  payloadSchema: { type: 'object', properties: { ...fields, own: { const: at } } },
  steps: [
    { template: { type: 'in_app', content: `Hello {{ payload.own }} ${at} ${'x'.repeat(20_000)}` } },
    { template: { type: 'sms', content: '{{ subscriber.firstName }}, see {{ payload.link }}' } },
  ],
})

/** The bytes of the answer, which are not parsed: that would be a long turn of the test's own. */
function send(body: Buffer, key: string): Promise<{ status: number | undefined; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `ApiKey ${app.developmentKey}`,
      'content-type': 'application/json',
      'content-length': body.length,
      'idempotency-key': key,
    }
    const call = request({ port, path: '/v1/configuration', method: 'POST', headers }, (answer) => {
      const pieces: Buffer[] = []
      answer.on('data', (piece: Buffer) => pieces.push(piece))
      answer.on('end', () => resolve({ status: answer.statusCode, bytes: Buffer.concat(pieces) })).on('error', reject)
    })
    call.on('error', reject).end(body)
  })
}

test('no turn is long, whatever is in it', async () => {
  const bodyOf = (count: number): Buffer => {
    const workflows = Array.from({ length: count }, (_, at) => workflow(at))
    return Buffer.from(JSON.stringify({ workflows, dryRun: true, lines: true }))
  }
  // What is compiled when it is first needed does not count.
  assert.equal((await send(bodyOf(3), 'first')).status, 200)
  const body = bodyOf(250)
  let attempts = 0
  const { result, share } = await watchWork(() => {
    attempts += 1
    return send(body, `attempt-${attempts}`)
  })
  const { status, bytes } = result
  assert.equal(status, 200, bytes.toString().slice(0, 300))
  const { changes } = JSON.parse(bytes.toString())
  assert.equal(changes.length, 250)
  assert.equal(changes[0].after.steps.length, 2)
  assert.ok(changes[0].lines.length > 0)
  assert.ok(share < 1, `the longest turn took ${share} of what it may`)
})

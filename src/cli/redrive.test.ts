// A redrive that is watched while its service goes away.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { readConfig } from '../config.ts'
import { silentLog } from '../world/log.ts'
import { redriveCommand } from './redrive.ts'

test('a service that stops answering does not take the way to the redrive with it', async () => {
  const begun = { _id: 'redrive-7', state: 'running', lookedAt: 0, matched: 0, redriven: 0 }
  const server = createServer((request, reply) => {
    reply.writeHead(request.method === 'POST' ? 202 : 503, { 'content-type': 'application/json' })
    reply.end(JSON.stringify(request.method === 'POST' ? begun : { message: 'The service is stopping' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const env = { POSTHORN_URL: `http://127.0.0.1:${port}`, POSTHORN_API_KEY: 'test-key-of-no-one' }
  const notes: string[] = []
  const terminal: Parameters<typeof redriveCommand.run>[0] = {
    config: readConfig(env).config,
    settings: { mistakes: [], warnings: [] },
    log: silentLog,
    width: undefined,
    print: (line) => assert.fail(line),
    write: () => {},
    note: (line) => void notes.push(line),
    readInput: async () => '',
    untilStopped: () => new AbortController().signal,
    pause: async () => {},
  }
  await assert.rejects(redriveCommand.run(terminal, ['event', 'order-7', '--yes', '--json']), /is stopping/)
  assert.match(notes.at(-1) ?? '', /Started\. `posthorn redrive show redrive-7`/)
  server.close()
})

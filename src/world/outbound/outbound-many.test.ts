// Many slow calls to one host: all of them are on the wire at once, and none waits for the end of another.
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { createServer as createSecureServer } from 'node:https'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { listenOnLoopback, makeServerCertificate, startHttp2Server } from '../../../test/support/outbound-tls.ts'
import type { OutboundOptions } from '../world.ts'
import { connectTimeoutMs } from './outbound-call.ts'
import { createOutboundFetch } from './outbound-fetch.ts'
import { http1CallsMax } from './outbound-http1-pools.ts'
import { http2CallsMax } from './outbound-http2-pool.ts'

const certificate = makeServerCertificate()
const callsAtOnce = 100
const testTimeoutMs = 60_000
let lookups = 0
const fetch = createOutboundFetch({
  allow: ['slow.example.org'],
  resolve: async () => {
    lookups += 1
    return [{ address: '127.0.0.1', family: 4 }]
  },
  ca: certificate.ca,
})

/** A hundred handshakes, both sides in one thread: on a busy machine they take longer than connecting may. */
function connectsSlowly(t: TestContext): void {
  const { setTimeout: start } = globalThis
  t.mock.method(globalThis, 'setTimeout', (work: () => void, ms: number) =>
    start(work, ms === connectTimeoutMs ? testTimeoutMs : ms),
  )
}

async function callAll(origin: string, options: OutboundOptions): Promise<void> {
  const account = {}
  let asked = 0
  const mayLeave = (): boolean => {
    asked += 1
    return true
  }
  const calls = Array.from({ length: callsAtOnce }, () =>
    fetch({ url: `${origin}/`, method: 'POST', headers: {}, body: '{}' }, { ...options, account, mayLeave }),
  )
  for (const { status } of await Promise.all(calls)) assert.equal(status, 200)
  assert.equal(asked, callsAtOnce)
}

test('the pools hold as many calls as one account is given, and more', () => {
  assert.ok(http1CallsMax >= callsAtOnce)
  assert.ok(http2CallsMax >= callsAtOnce)
})

for (const [scheme, makeServer] of [
  ['http', createServer],
  ['https', () => createSecureServer(certificate)],
] as const) {
  test(`${scheme}: a hundred calls that are answered when the last has come`, { timeout: testTimeoutMs }, async (t) => {
    connectsSlowly(t)
    const held: ServerResponse[] = []
    const server = makeServer()
    server.on('request', (_request, response: ServerResponse) => {
      held.push(response)
      if (held.length === callsAtOnce) for (const one of held.splice(0)) one.end('ok')
    })
    const port = await listenOnLoopback(t, server)
    lookups = 0
    await callAll(`${scheme}://slow.example.org:${port}`, {})
    assert.equal(lookups, 1, 'they ask for the name together')
  })
}

for (const streamsMax of [1_000, 100, 30]) {
  test(`HTTP/2, ${streamsMax} by a connection: a hundred calls that are answered when the last has come`, {
    timeout: testTimeoutMs,
  }, async (t) => {
    connectsSlowly(t)
    const held: ServerHttp2Stream[] = []
    const { port, sessions } = await startHttp2Server(
      t,
      certificate,
      (server) => {
        server.on('stream', (stream) => {
          stream.on('error', () => {})
          held.push(stream)
          if (held.length < callsAtOnce) return
          for (const one of held.splice(0)) {
            one.respond({ ':status': 200 })
            one.end('ok')
          }
        })
      },
      { settings: { maxConcurrentStreams: streamsMax } },
    )
    await callAll(`https://slow.example.org:${port}`, { http2: true })
    assert.equal(sessions.length, Math.ceil(callsAtOnce / streamsMax))
  })
}

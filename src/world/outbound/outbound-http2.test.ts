// Calls by HTTP/2 against real servers on the loopback: many by one connection, and what each failure says.
import assert from 'node:assert/strict'
import { createServer as createHttpServer } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { constants } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import { test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import {
  listenOnLoopback,
  makeServerCertificate,
  pinged,
  startHttp2Server,
  startRouter,
} from '../../../test/support/outbound-tls.ts'
import type { OutboundAnswer, OutboundOptions, OutboundRequest } from '../world.ts'
import type { ResolveName } from './address-guard.ts'
import type { OutboundFailure } from './outbound-error.ts'
import { OutboundError } from './outbound-error.ts'
import { createOutboundFetch } from './outbound-fetch.ts'

const certificate = makeServerCertificate()
const { ca, cert, key } = certificate
const toLoopback: ResolveName = async () => [{ address: '127.0.0.1', family: 4 }]
const open = createOutboundFetch({ allow: ['127.0.0.1'], ca })
const post = (port: number, path = '/', change: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url: `https://127.0.0.1:${port}${path}`,
  method: 'POST',
  headers: {},
  body: '{}',
  ...change,
})
const byHttp2 = (request: OutboundRequest, options: OutboundOptions = {}, fetch = open): Promise<OutboundAnswer> =>
  fetch(request, { ...options, http2: true })

async function failure(kind: OutboundFailure, call: Promise<OutboundAnswer>): Promise<string> {
  const error = await call.then(
    (answer) => assert.fail(`answered with ${answer.status}`),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof OutboundError, String(error))
  assert.equal(error.kind, kind, error.message)
  return error.message
}

async function textOf(stream: ServerHttp2Stream): Promise<string> {
  let text = ''
  for await (const chunk of stream.setEncoding('utf8')) text += chunk
  return text
}

const answers = (stream: ServerHttp2Stream, body = 'ok'): void => {
  stream.on('error', () => {})
  stream.respond({ ':status': 200 })
  stream.end(body)
}

test('method, path, query, headers and body arrive as given, and the answer comes back', async (t) => {
  const { port } = await startHttp2Server(t, certificate, (server) => {
    server.on('stream', async (stream, headers) => {
      const seen = { headers, body: await textOf(stream) }
      stream.respond({ ':status': 418, 'apns-id': 'm1', 'set-cookie': ['a=1', 'b=2'] })
      stream.end(JSON.stringify(seen))
    })
  })
  const headers = { Authorization: 'bearer x', HOST: 'elsewhere', Connection: 'close', TE: 'gzip', 'apns-topic': 'a' }
  const answer = await byHttp2(post(port, '/3/device/a%20b?c=d', { headers, body: 'grüße' }))
  assert.equal(answer.status, 418)
  assert.equal(answer.headers.get('apns-id'), 'm1')
  assert.deepEqual(answer.headers.getSetCookie(), ['a=1', 'b=2'])
  const seen = JSON.parse(answer.body)
  assert.equal(seen.body, 'grüße')
  assert.deepEqual(
    [seen.headers[':method'], seen.headers[':path'], seen.headers[':scheme'], seen.headers[':authority']],
    ['POST', '/3/device/a%20b?c=d', 'https', `127.0.0.1:${port}`],
  )
  assert.equal(seen.headers['content-length'], '7')
  assert.equal(seen.headers['apns-topic'], 'a')
  assert.equal(seen.headers['accept-encoding'], 'identity')
  assert.equal(seen.headers.authorization, 'bearer x')
  assert.equal(seen.headers.te, undefined)
})

test('a call without a body, an answer without one, and one of HEAD', async (t) => {
  const { port } = await startHttp2Server(t, certificate, (server) => {
    server.on('stream', (stream, headers) => {
      stream.respond({ ':status': headers[':method'] === 'HEAD' ? 200 : 204 }, { endStream: true })
    })
  })
  for (const [method, status] of [
    ['GET', 204],
    ['HEAD', 200],
    ['DELETE', 204],
  ] as const) {
    const answer = await byHttp2({ url: `https://127.0.0.1:${port}/`, method, headers: {} })
    assert.deepEqual([answer.status, answer.body], [status, ''], method)
  }
})

test('a thousand calls at once go by one connection, and the next thousand by the same', async (t) => {
  let most = 0
  const held: ServerHttp2Stream[] = []
  const { port, sessions } = await startHttp2Server(
    t,
    certificate,
    (server) => {
      server.on('stream', (stream, headers) => {
        // None is answered before all are there: so they were under way at the same time.
        held.push(stream)
        most = Math.max(most, held.length)
        stream.respond({ ':status': 200, 'x-path': headers[':path'] })
        if (held.length === 1_000) for (const one of held.splice(0)) one.end('ok')
      })
    },
    { settings: { maxConcurrentStreams: 1_000 } },
  )
  for (const round of [1, 2]) {
    const calls = Array.from({ length: 1_000 }, (_, index) => byHttp2(post(port, `/${round}/${index}`)))
    const got = await Promise.all(calls)
    got.forEach((answer, index) => void assert.equal(answer.headers.get('x-path'), `/${round}/${index}`))
  }
  assert.equal(most, 1_000)
  assert.equal(sessions.length, 1)
})

test('a full connection gets a second one, up to four, and what is beyond them waits', async (t) => {
  const waiting: ServerHttp2Stream[] = []
  const { port, sessions } = await startHttp2Server(
    t,
    certificate,
    (server) => void server.on('stream', (stream) => void waiting.push(stream)),
    { settings: { maxConcurrentStreams: 2 } },
  )
  const calls = Array.from({ length: 10 }, (_, index) => byHttp2(post(port, `/${index}`)))
  while (waiting.length < 8) await new Promise((resolve) => setTimeout(resolve, 5))
  await Promise.all(sessions.map(pinged)) // Whatever was sent before is here.
  assert.deepEqual([waiting.length, sessions.length], [8, 4])
  const late = failure('not-sent', byHttp2(post(port, '/late'), { timeoutMs: 30 }))
  assert.match(await late, /did not respond within 30 ms/)
  assert.deepEqual([waiting.length, sessions.length], [8, 4])
  let isOver = false
  const all = Promise.all(calls).finally(() => {
    isOver = true
  })
  for (; !isOver; await new Promise((resolve) => setTimeout(resolve, 5))) {
    for (const stream of waiting.splice(0)) answers(stream)
  }
  assert.equal((await all).length, 10)
  assert.equal(sessions.length, 4)
})

test('connections are not shared between accounts or reaches', async (t) => {
  const { port, sessions } = await startHttp2Server(t, certificate, (server) => {
    server.on('stream', (stream) => answers(stream))
  })
  const [one, other] = [{}, {}]
  await byHttp2(post(port), { account: one })
  await byHttp2(post(port), { account: one })
  assert.equal(sessions.length, 1)
  await byHttp2(post(port), { account: other })
  assert.equal(sessions.length, 2)
  await byHttp2(post(port))
  assert.equal(sessions.length, 3)
  await byHttp2(post(port), { account: one, reach: 'operator' })
  assert.equal(sessions.length, 4)
})

test('an address that may not be reached is refused, also where the operator’s reach has a connection', async (t) => {
  const { port, sessions } = await startHttp2Server(t, certificate, (server) => {
    server.on('stream', (stream) => answers(stream))
  })
  const closed = createOutboundFetch({ allow: [], resolve: toLoopback, ca })
  const named = post(port, '/', { url: `https://push.example.org:${port}/` })
  assert.equal((await byHttp2(named, { reach: 'operator' }, closed)).body, 'ok')
  await failure('refused-address', byHttp2(named, {}, closed))
  await failure('refused-address', byHttp2(post(port), {}, closed))
  const metadata = post(port, '/', { url: 'https://169.254.169.254/' })
  await failure('refused-address', byHttp2(metadata, { reach: 'operator' }, closed))
  assert.equal(sessions.length, 1)
})

test('the answer is read up to 64 KiB and then cut, even when it never ends; the connection stays', async (t) => {
  const { port, sessions } = await startHttp2Server(t, certificate, (server) => {
    server.on('stream', (stream, headers) => {
      stream.on('error', () => {})
      stream.respond({ ':status': 200 })
      stream.write('x'.repeat(70_000))
      if (headers[':path'] === '/ends') stream.end()
    })
  })
  for (const path of ['/ends', '/never-ends', '/ends']) {
    assert.equal((await byHttp2(post(port, path))).body.length, 64 * 1024)
  }
  assert.equal(sessions.length, 1)
})

test('a redirect is returned and not followed', async (t) => {
  let calls = 0
  const { port } = await startHttp2Server(t, certificate, (server) => {
    server.on('stream', (stream) => {
      calls += 1
      stream.respond({ ':status': 302, location: '/elsewhere' }, { endStream: true })
    })
  })
  const answer = await byHttp2(post(port))
  assert.deepEqual([answer.status, answer.headers.get('location'), calls], [302, '/elsewhere', 1])
})

test('a stream the server refuses was not sent; one that it resets or cuts leaves us unsure', async (t) => {
  const { port } = await startHttp2Server(t, certificate, (server) => {
    server.on('stream', (stream, headers) => {
      stream.on('error', () => {})
      const path = headers[':path'] ?? ''
      if (path.startsWith('/within')) {
        // Node ends a stream in order before it resets it: only its length then shows that it is incomplete.
        stream.respond({ ':status': 200, ...(path === '/within-cut' ? {} : { 'content-length': '100' }) })
        stream.write('half')
      }
      const reset = (code: number) => void setTimeout(() => stream.close(code), 20)
      if (path === '/refused') reset(constants.NGHTTP2_REFUSED_STREAM)
      else if (path.endsWith('cancel')) reset(constants.NGHTTP2_CANCEL)
      else if (path.endsWith('error')) reset(constants.NGHTTP2_INTERNAL_ERROR)
      else if (path.endsWith('nothing')) reset(constants.NGHTTP2_NO_ERROR)
      else setTimeout(() => stream.session?.destroy(), 20)
    })
  })
  await failure('not-sent', byHttp2(post(port, '/refused')))
  for (const path of ['/cancel', '/error', '/nothing', '/cut', '/within-cancel', '/within-error', '/within-cut']) {
    await failure('unsure', byHttp2(post(port, path)))
  }
})

for (const code of [constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_ENHANCE_YOUR_CALM]) {
  test(`goodbye with code ${code}: what the server did not get to was not sent, and the next call connects again`, async (t) => {
    let last = 0
    const { port, sessions } = await startHttp2Server(t, certificate, (server) => {
      server.on('stream', (stream, headers) => {
        stream.on('error', () => {})
        if (headers[':path'] === '/before' || headers[':path'] === '/after') return answers(stream)
        if (headers[':path'] === '/first') {
          last = stream.id ?? 0
          return
        }
        // Not all of them are looked at: the first was, and is answered if the connection lives that long.
        stream.session?.goaway(code, last)
        if (code !== constants.NGHTTP2_NO_ERROR) setTimeout(() => sessions[0]?.destroy(), 50)
      })
    })
    // Connected, so that a slow handshake is not taken for a request that was not sent.
    await byHttp2(post(port, '/before'))
    const first = failure('unsure', byHttp2(post(port, '/first'), { timeoutMs: 1_000 }))
    while (last === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    const second = byHttp2(post(port, '/second'))
    await failure('not-sent', second)
    assert.equal((await byHttp2(post(port, '/after'))).body, 'ok')
    assert.equal(sessions.length, 2)
    await first
  })
}

test('a server that says goodbye to every new connection is not asked again and again', async (t) => {
  const { port, sessions } = await startHttp2Server(t, certificate, (server) => {
    server.on('session', (session) => session.goaway(constants.NGHTTP2_NO_ERROR, 0))
  })
  await failure('not-sent', byHttp2(post(port)))
  assert.equal(sessions.length, 1)
})

test('a call that is not answered leaves us unsure, and so does one that is given up', async (t) => {
  const late = new AbortController()
  const { port } = await startHttp2Server(t, certificate, (server) => {
    server.on('stream', (stream, headers) => {
      stream.on('error', () => {})
      if (headers[':path'] === '/gives-up') late.abort()
      if (headers[':path'] === '/half') stream.respond({ ':status': 200 })
      if (headers[':path'] === '/before') answers(stream)
    })
  })
  // Connected, so that a slow handshake is not taken for a request that was not sent.
  await byHttp2(post(port, '/before'))
  await failure('unsure', byHttp2(post(port, '/silent'), { timeoutMs: 200 }))
  await failure('unsure', byHttp2(post(port, '/half'), { timeoutMs: 200 }))
  await failure('unsure', byHttp2(post(port, '/gives-up', { signal: late.signal })))
  const early = new AbortController()
  early.abort()
  await failure('not-sent', byHttp2(post(port, '/', { signal: early.signal })))
})

test('a connection that does not answer a ping any more is left for a new one', async (t) => {
  const { port, sessions } = await startHttp2Server(t, certificate, (server) => {
    server.on('stream', (stream) => answers(stream))
  })
  const router = await startRouter(t, port)
  await byHttp2(post(router.port))
  router.forget()
  await failure('unsure', byHttp2(post(router.port), { timeoutMs: 100 }))
  assert.equal((await byHttp2(post(router.port))).body, 'ok')
  assert.equal(sessions.length, 2)
})

test('a connection that was quiet is asked before a call goes by it, so that the call is not lost in a dead one', async (t) => {
  const { port, sessions } = await startHttp2Server(t, certificate, (server) => {
    server.on('stream', (stream) => answers(stream))
  })
  const router = await startRouter(t, port)
  await byHttp2(post(router.port))
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 5_000 })
  assert.equal((await byHttp2(post(router.port))).body, 'ok')
  assert.equal(sessions.length, 1)
  router.forget()
  t.mock.timers.tick(5_000)
  assert.equal((await byHttp2(post(router.port))).body, 'ok')
  assert.equal(sessions.length, 2)
})

test('an idle connection is closed after a minute, and the next call makes another', async (t) => {
  t.mock.timers.enable({ apis: ['Date', 'setInterval'], now: Date.now() })
  const { port, sessions } = await startHttp2Server(t, certificate, (server) => {
    server.on('stream', (stream) => answers(stream))
  })
  await byHttp2(post(port))
  const closed = new Promise((resolve) => sessions[0]?.once('close', resolve))
  // The stream closes just after its response has arrived: before the client answers a ping that follows it.
  await Promise.all(sessions.map(pinged))
  for (let seconds = 0; seconds < 60; seconds += 10) {
    assert.equal(sessions[0]?.closed, false)
    t.mock.timers.tick(10_000)
  }
  await closed
  await byHttp2(post(port))
  assert.equal(sessions.length, 2)
})

test('a server that does not speak HTTP/2 is distinguished, and was not sent anything', async (t) => {
  let calls = 0
  const onlyHttp1 = createHttpsServer({ cert, key }, (_request, response) => {
    calls += 1
    response.end('ok')
  })
  const noAlpn = createTlsServer({ cert, key }, (socket) => socket.on('error', () => {}))
  for (const server of [onlyHttp1, noAlpn]) {
    const port = await listenOnLoopback(t, server)
    assert.match(await failure('not-sent', byHttp2(post(port))), /127\.0\.0\.1 does not support HTTP\/2/)
  }
  assert.equal(calls, 0)
  const silent = createTlsServer({ cert, key, ALPNProtocols: ['h2'] }, (socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.destroy())
  })
  await failure('not-sent', byHttp2(post(await listenOnLoopback(t, silent))))
})

test('a refused connection, a certificate of someone else and a name it is not for were certainly not sent', async (t) => {
  const closed = createTcpServer()
  const closedPort = await new Promise<number>((resolve) => {
    closed.listen(0, '127.0.0.1', () => {
      const address = closed.address()
      closed.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
  assert.match(
    await failure('not-sent', byHttp2(post(closedPort, '/secret'))),
    /^Could not connect to 127\.0\.0\.1 \(ECONNREFUSED\)$/,
  )
  const { port } = await startHttp2Server(t, certificate, (server) => {
    server.on('stream', (stream) => answers(stream))
  })
  const other = createOutboundFetch({ allow: ['127.0.0.1'], ca: makeServerCertificate().ca })
  assert.match(await failure('not-sent', byHttp2(post(port), {}, other)), /UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED/)
  const named = createOutboundFetch({ allow: ['push.example.net'], resolve: toLoopback, ca })
  const call = byHttp2({ ...post(port), url: `https://push.example.net:${port}/` }, {}, named)
  assert.match(await failure('not-sent', call), /ERR_TLS_CERT_ALTNAME_INVALID/)
})

test('a header with a line break is never sent', async (t) => {
  const { port, sessions } = await startHttp2Server(t, certificate, (server) => {
    server.on('stream', (stream) => answers(stream))
  })
  await failure('not-sent', byHttp2(post(port, '/', { headers: { 'x-key': 'a\r\nx-other: b' } })))
  await failure('not-sent', byHttp2(post(port, '/', { headers: { 'x key': 'a' } })))
  assert.equal(sessions.length, 0)
})

test('without TLS a call goes by HTTP/1', async (t) => {
  const port = await listenOnLoopback(
    t,
    createHttpServer((request, response) => void response.end(request.httpVersion)),
  )
  assert.equal((await byHttp2(post(port, '/', { url: `http://127.0.0.1:${port}/` }))).body, '1.1')
})

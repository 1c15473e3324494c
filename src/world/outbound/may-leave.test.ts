// Asking before a message leaves, against real servers on the loopback: by HTTP/1 and HTTP/2, directly and by a proxy.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Server, Socket } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { createFakeWorld } from '../../../test/support/fake-world.ts'
import { listenOnLoopback, makeServerCertificate, startHttp2Server } from '../../../test/support/outbound-tls.ts'
import { startProxy } from '../../../test/support/proxy-server.ts'
import type { MayLeave, OutboundAnswer, OutboundOptions, World } from '../world.ts'
import { leavingWorld, originOf, whenAnswered } from './may-leave.ts'
import type { OutboundFailure } from './outbound-error.ts'
import { OutboundError } from './outbound-error.ts'
import { createOutboundFetch } from './outbound-fetch.ts'
import type { ProxySettings } from './outbound-proxy.ts'

const certificate = makeServerCertificate()
const fetchBy = (proxies: ProxySettings = {}): World['fetch'] =>
  createOutboundFetch({
    allow: ['127.0.0.1', 'hooks.example.org'],
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    ca: certificate.ca,
    proxies,
  })

/** One way to a server: what it was asked, in order, and a call by it. */
interface Way {
  readonly paths: string[]
  /** The server's connections by which calls come. */
  readonly sockets: Socket[]
  call(path: string, options?: OutboundOptions): Promise<OutboundAnswer>
}

function wayTo(fetch: World['fetch'], origin: string, seen: Pick<Way, 'paths' | 'sockets'>, http2?: true): Way {
  const own: OutboundOptions = http2 === undefined ? {} : { http2 }
  const call = (path: string, options: OutboundOptions = {}): Promise<OutboundAnswer> =>
    fetch({ url: `${origin}${path}`, method: 'POST', headers: {}, body: '{}' }, { ...own, ...options })
  return { ...seen, call }
}

async function startHttp1(t: TestContext, server: Server): Promise<Pick<Way, 'paths' | 'sockets'> & { port: number }> {
  const paths: string[] = []
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => sockets.push(socket))
  server.on('request', (request, response) => {
    paths.push(request.url ?? '')
    response.end('ok')
  })
  return { paths, sockets, port: await listenOnLoopback(t, server) }
}

const ways: Record<string, (t: TestContext) => Promise<Way>> = {
  'HTTP/1': async (t) => {
    const server = await startHttp1(t, createServer())
    return wayTo(fetchBy(), `http://127.0.0.1:${server.port}`, server)
  },
  'HTTP/1 with TLS': async (t) => {
    const server = await startHttp1(t, createSecureServer(certificate))
    return wayTo(fetchBy(), `https://127.0.0.1:${server.port}`, server)
  },
  'HTTP/1 through a tunnel': async (t) => {
    const server = await startHttp1(t, createSecureServer(certificate))
    const proxy = await startProxy(t)
    return wayTo(fetchBy({ https: proxy.url }), `https://hooks.example.org:${server.port}`, server)
  },
  'HTTP/1 by a proxy that is handed the request': async (t) => {
    const server = await startHttp1(t, createServer())
    const proxy = await startProxy(t)
    const { asked: paths } = proxy
    return wayTo(fetchBy({ http: proxy.url }), `http://hooks.example.org:${server.port}`, { paths, sockets: [] })
  },
  'HTTP/2': async (t) => {
    const { paths, sockets, port } = await startStreams(t)
    return wayTo(fetchBy(), `https://127.0.0.1:${port}`, { paths, sockets }, true)
  },
  'HTTP/2 through a tunnel': async (t) => {
    const { paths, sockets, port } = await startStreams(t)
    const proxy = await startProxy(t)
    return wayTo(fetchBy({ https: proxy.url }), `https://hooks.example.org:${port}`, { paths, sockets }, true)
  },
}

async function startStreams(t: TestContext) {
  const paths: string[] = []
  const sockets: Socket[] = []
  const started = await startHttp2Server(t, certificate, (server) => {
    server.on('connection', (socket: Socket) => sockets.push(socket))
    server.on('stream', (stream, headers) => {
      paths.push(String(headers[':path']))
      stream.on('error', () => {})
      stream.respond({ ':status': 200 })
      stream.end('ok')
    })
  })
  return { ...started, paths, sockets }
}

async function failure(kind: OutboundFailure, call: Promise<OutboundAnswer>): Promise<string> {
  const error = await call.then(
    (answer) => assert.fail(`answered with ${answer.status}`),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof OutboundError, String(error))
  assert.equal(error.kind, kind, error.message)
  return error.message
}

/** By a proxy a path stands behind an address. */
const endsOf = (paths: readonly string[]): string[] => paths.map((path) => path.slice(path.lastIndexOf('/')))

for (const [name, start] of Object.entries(ways)) {
  test(`${name}: asked once a call, when the connection is in hand, and nothing leaves before the answer`, async (t) => {
    const { paths, sockets, call } = await start(t)
    const order: string[] = []
    const mayLeave: MayLeave = async () => {
      order.push('asked')
      // A whole call by another connection: had the first been written, the server would have seen it by now.
      await call('/probe', { account: {} })
      assert.deepEqual(endsOf(paths), ['/probe'])
      if (!name.includes('handed')) assert.equal(sockets.length, 2, 'its own connection was there before')
      order.push('allowed')
      return true
    }
    assert.equal((await call('/send', { mayLeave })).body, 'ok')
    assert.deepEqual(endsOf(paths), ['/probe', '/send'])
    assert.deepEqual(order, ['asked', 'allowed'])
    // By the connection that is there now.
    let asked = 0
    const answers = await Promise.all(
      ['/a', '/b', '/c'].map((path) =>
        call(path, {
          mayLeave: () => {
            asked += 1
            return true
          },
        }),
      ),
    )
    assert.deepEqual([answers.length, asked], [3, 3])
  })

  test(`${name}: a no, a later no and an error all withhold the call, and the next one goes`, async (t) => {
    const { paths, call } = await start(t)
    const noes: MayLeave[] = [
      () => false,
      async () => false,
      () => Promise.reject(new Error('the database is away')),
      () => {
        throw new Error('broken')
      },
    ]
    // Once by a new connection, once by one that is kept.
    for (let round = 0; round < 2; round += 1) {
      for (const mayLeave of noes) await failure('withheld', call('/never', { mayLeave }))
      assert.equal((await call('/send', { mayLeave: () => true })).status, 200)
    }
    assert.deepEqual(endsOf(paths), ['/send', '/send'])
  })

  test(`${name}: a yes that comes when the time is up sends nothing`, async (t) => {
    const { paths, call } = await start(t)
    let allow: (isAllowed: boolean) => void = () => {}
    const mayLeave = () =>
      new Promise<boolean>((resolve) => {
        allow = resolve
      })
    await failure('not-sent', call('/never', { mayLeave, timeoutMs: 300 }))
    allow(true)
    assert.equal((await call('/send')).status, 200)
    assert.deepEqual(endsOf(paths), ['/send'])
  })
}

test('HTTP/1: a connection that breaks while the answer is awaited was not sent', async (t) => {
  let bytes = 0
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      bytes += chunk.length
    })
  })
  const connected = once(server, 'connection')
  const port = await listenOnLoopback(t, server)
  const { call } = wayTo(fetchBy(), `http://127.0.0.1:${port}`, { paths: [], sockets: [] })
  let allow: (isAllowed: boolean) => void = () => {}
  const mayLeave = async (): Promise<boolean> => {
    const [socket] = (await connected) as [Socket]
    socket.destroy()
    return new Promise((resolve) => {
      allow = resolve
    })
  }
  await failure('not-sent', call('/never', { mayLeave, timeoutMs: 1_000 }))
  allow(true)
  assert.equal(bytes, 0)
})

test('HTTP/2: where the connection ends while the answer is awaited, the call asks again and goes by another', async (t) => {
  const server = await startStreams(t)
  const { call } = wayTo(fetchBy(), `https://127.0.0.1:${server.port}`, server, true)
  let asked = 0
  const answer = await call('/send', {
    mayLeave: async () => {
      asked += 1
      if (asked > 1) return true
      const [session] = server.sessions
      assert.ok(session)
      const closed = once(session, 'close')
      session.destroy()
      await closed
      return call('/probe', { account: {} }).then(() => true)
    },
  })
  assert.equal(answer.status, 200)
  assert.equal(asked, 2)
  assert.deepEqual(server.paths, ['/probe', '/send'])
})

test('an answer that is at hand is taken in the same turn', () => {
  const answers: boolean[] = []
  whenAnswered(undefined, (isAllowed) => answers.push(isAllowed))
  whenAnswered(
    () => true,
    (isAllowed) => answers.push(isAllowed),
  )
  whenAnswered(
    () => false,
    (isAllowed) => answers.push(isAllowed),
  )
  assert.deepEqual(answers, [true, true, false])
})

test('a call’s own world asks with every request but those that send nothing, and is the shared one in all else', async () => {
  const world = createFakeWorld()
  const asking: (string | undefined)[] = []
  world.onFetch = (request, options) => {
    asking.push(options.mayLeave === undefined ? undefined : request.url)
    return { status: 200, headers: new Headers(), body: '' }
  }
  const leaving = leavingWorld(world, () => true)
  const get = (url: string) => ({ url, method: 'GET', headers: {} })
  await leaving.fetch(get('https://a.example/send'))
  await leaving.fetch(get('https://a.example/send'), { timeoutMs: 5 })
  await leaving.fetch(get('https://a.example/token'), { sendsNothing: true })
  await world.fetch(get('https://a.example/other'))
  assert.deepEqual(asking, ['https://a.example/send', 'https://a.example/send', undefined, undefined])
  assert.equal(originOf(leaving), world)
  assert.equal(originOf(leavingWorld(leaving, () => false)), world)
  assert.equal(originOf(world), world)
  world.advance(1_000)
  assert.deepEqual(leaving.now(), world.now())
})

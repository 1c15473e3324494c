// Outbound calls against real servers on the loopback: what is sent, what is read, and what is refused.
import assert from 'node:assert/strict'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { outboundAllow } from '../../config/outbound-allow.ts'
import type { OutboundOptions, World } from '../world.ts'
import type { ResolveName } from './address-guard.ts'
import type { OutboundFailure } from './outbound-error.ts'
import { OutboundError } from './outbound-error.ts'
import { createAccountAddresses, createOutboundFetch } from './outbound-fetch.ts'

async function listen(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

const serve = (t: TestContext, listener: RequestListener): Promise<number> => listen(t, createServer(listener))

/** Once it is connected, so that the time of a call which is to run out is not spent before its request is sent. */
async function serveFrom(t: TestContext, listener: RequestListener): Promise<number> {
  const port = await serve(t, (request, response) => {
    if (request.url === '/first') response.end('ok')
    else listener(request, response)
  })
  await open(new Request(`http://127.0.0.1:${port}/first`))
  return port
}

const toLoopback: ResolveName = async () => [{ address: '127.0.0.1', family: 4 }]
const open = createOutboundFetch({ allow: ['127.0.0.1'] })

async function failure(
  kind: OutboundFailure,
  url: string,
  options: OutboundOptions = {},
  fetch: World['fetch'] = open,
): Promise<string> {
  const error = await fetch(new Request(url), options).then(
    (answer) => assert.fail(`answered with ${answer.status}`),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof OutboundError, String(error))
  assert.equal(error.kind, kind, error.message)
  return error.message
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}

test('method, path, query, headers and body arrive as given, and the answer comes back', async (t) => {
  const port = await serve(t, async (request, response) => {
    const seen = { method: request.method, url: request.url, headers: request.headers, body: await bodyOf(request) }
    response.writeHead(418, { 'x-message-id': 'm1', 'set-cookie': ['a=1', 'b=2'] }).end(JSON.stringify(seen))
  })
  const answer = await open(
    new Request(`http://127.0.0.1:${port}/a%20b?c=d&c=e#f`, {
      method: 'POST',
      headers: { authorization: 'Bearer x', 'content-type': 'text/plain', 'accept-encoding': 'gzip' },
      body: 'grüße',
    }),
  )
  assert.equal(answer.status, 418)
  assert.equal(answer.headers.get('x-message-id'), 'm1')
  assert.deepEqual(answer.headers.getSetCookie(), ['a=1', 'b=2'])
  const seen = JSON.parse(answer.body)
  assert.equal(seen.method, 'POST')
  assert.equal(seen.url, '/a%20b?c=d&c=e')
  assert.equal(seen.body, 'grüße')
  assert.equal(seen.headers.authorization, 'Bearer x')
  assert.equal(seen.headers.host, `127.0.0.1:${port}`)
  assert.equal(seen.headers['content-length'], '7')
  assert.equal(seen.headers['accept-encoding'], 'identity')
  assert.match(seen.headers['user-agent'], /^Posthorn/)
})

test('a call as plain values arrives as a Request does, and cannot set what the connection decides', async (t) => {
  const port = await serve(t, async (request, response) => {
    const seen = { method: request.method, url: request.url, headers: request.headers, body: await bodyOf(request) }
    response.end(JSON.stringify(seen))
  })
  const answer = await open({
    url: `http://127.0.0.1:${port}/a%20b?c=d`,
    method: 'POST',
    headers: { Authorization: 'Bearer x', 'Content-Length': '1', HOST: 'elsewhere', 'Accept-Encoding': 'gzip' },
    body: 'grüße',
  })
  const seen = JSON.parse(answer.body)
  assert.deepEqual([seen.method, seen.url, seen.body], ['POST', '/a%20b?c=d', 'grüße'])
  assert.equal(seen.headers.authorization, 'Bearer x')
  assert.equal(seen.headers.host, `127.0.0.1:${port}`)
  assert.equal(seen.headers['content-length'], '7')
  assert.equal(seen.headers['accept-encoding'], 'identity')
  const bytes = Buffer.from([0, 255, 128, 10])
  const echo = await serve(t, (request, response) => void request.pipe(response))
  const binary = await open({ url: `http://127.0.0.1:${echo}/`, method: 'POST', headers: {}, body: bytes })
  assert.equal(binary.body, bytes.toString('utf8'))
})

test('a header with a line break is never sent', async (t) => {
  let calls = 0
  const port = await serve(t, (_request, response) => {
    calls += 1
    response.end()
  })
  const call = { url: `http://127.0.0.1:${port}/`, method: 'POST', headers: { 'x-key': 'a\r\nX-Other: b' } }
  const error = await open(call).catch((thrown: unknown) => thrown)
  assert.ok(error instanceof OutboundError)
  assert.equal(error.kind, 'not-sent')
  assert.equal(calls, 0)
})

test('an address that was vetted for one reach is not taken for vetted in another', async (t) => {
  const port = await serve(t, (_request, response) => void response.end('ok'))
  const fetch = createOutboundFetch({ allow: [] })
  await fetch(new Request(`http://127.0.0.1:${port}/`), { reach: 'operator' })
  await failure('refused-address', `http://127.0.0.1:${port}/`, {}, fetch)
})

test('a redirect is returned and not followed', async (t) => {
  let calls = 0
  const port = await serve(t, (_request, response) => {
    calls += 1
    response.writeHead(302, { location: '/elsewhere' }).end()
  })
  const answer = await open(new Request(`http://127.0.0.1:${port}/`))
  assert.equal(answer.status, 302)
  assert.equal(answer.headers.get('location'), '/elsewhere')
  assert.equal(calls, 1)
})

test('an answer is read up to 64 KiB and then cut, even when it never ends', async (t) => {
  const port = await serve(t, (request, response) => {
    response.write('x'.repeat(70_000))
    if (request.url === '/ends') response.end()
  })
  for (const path of ['/ends', '/never-ends']) {
    const answer = await open(new Request(`http://127.0.0.1:${port}${path}`))
    assert.equal(answer.status, 200)
    assert.equal(answer.body.length, 64 * 1024)
  }
})

test('a compressed answer is not unpacked', async (t) => {
  const port = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('a'.repeat(10_000_000)))
  })
  const answer = await open(new Request(`http://127.0.0.1:${port}/`))
  assert.ok(answer.body.length < 64 * 1024)
  assert.equal(answer.body.includes('aaaa'), false)
})

test('connections are kept and used again', async (t) => {
  const ports = new Set<number | undefined>()
  const port = await serve(t, (request, response) => {
    ports.add(request.socket.remotePort)
    response.end('ok')
  })
  for (let call = 0; call < 3; call += 1) await open(new Request(`http://127.0.0.1:${port}/`))
  assert.equal(ports.size, 1)
})

test('connections are not shared between accounts or reaches', async (t) => {
  const ports = new Set<number | undefined>()
  const port = await serve(t, (request, response) => {
    ports.add(request.socket.remotePort)
    response.end('ok')
  })
  const call = (options: OutboundOptions) => open(new Request(`http://127.0.0.1:${port}/`), options)
  const [one, other] = [{}, {}]
  for (const account of [one, other, one, other]) await call({ account })
  assert.equal(ports.size, 2)
  await call({})
  assert.equal(ports.size, 3)
  await call({ account: one, reach: 'operator' })
  assert.equal(ports.size, 4)
})

test('an account that no one holds any more is not held by its connections', async (t) => {
  const port = await serve(t, (_request, response) => void response.end('ok'))
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const accounts: WeakRef<object>[] = []
  const use = async (): Promise<void> => {
    const account = {}
    accounts.push(new WeakRef(account))
    await open(new Request(`http://127.0.0.1:${port}/`), { account })
  }
  for (let call = 0; call < 10; call += 1) await use()
  // What the last call holds may live a little longer.
  const alive = (): number => accounts.filter((account) => account.deref() !== undefined).length
  for (let round = 0; round < 200 && alive() > 1; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    collect()
  }
  assert.ok(alive() <= 1)
})

test('a host that takes the request and gives no answer in time leaves us unsure', async (t) => {
  const port = await serveFrom(t, () => {})
  await failure('unsure', `http://127.0.0.1:${port}/`, { timeoutMs: 400 })
})

test('an answer whose body does not end in time leaves us unsure', async (t) => {
  const port = await serveFrom(t, (_request, response) => void response.writeHead(200).write('{"half":'))
  await failure('unsure', `http://127.0.0.1:${port}/`, { timeoutMs: 400 })
})

test('a connection cut after the request was written leaves us unsure, before or within the answer', async (t) => {
  const cut = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url === '/within')
      response.writeHead(200, { 'content-length': '100' }).write('half', () => request.socket.destroy())
    else request.socket.destroy()
  }
  const port = await serve(t, cut)
  await failure('unsure', `http://127.0.0.1:${port}/before`)
  await failure('unsure', `http://127.0.0.1:${port}/within`)
})

test('a call given up by its signal is distinguished by whether it had begun', async (t) => {
  const early = new AbortController()
  early.abort()
  const before = await open(new Request('http://127.0.0.1:9/', { signal: early.signal })).catch(
    (error: unknown) => error,
  )
  assert.equal((before as OutboundError).kind, 'not-sent')
  const late = new AbortController()
  const port = await serve(t, () => late.abort())
  const after = await open(new Request(`http://127.0.0.1:${port}/`, { signal: late.signal })).catch(
    (error: unknown) => error,
  )
  assert.equal((after as OutboundError).kind, 'unsure')
})

test('a refused connection, a failed handshake and an unknown name were certainly not sent', async (t) => {
  const closed = createTcpServer()
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
  const { port } = closed.address() as AddressInfo
  await new Promise((resolve) => closed.close(resolve))
  assert.match(await failure('not-sent', `http://127.0.0.1:${port}/secret-path`), /ECONNREFUSED/)
  const noTls = await listen(
    t,
    createTcpServer((socket) => void socket.once('data', () => socket.end('HTTP/1.1 400 no\r\n\r\n'))),
  )
  await failure('not-sent', `https://127.0.0.1:${noTls}/`)
  const unresolved = createOutboundFetch({
    allow: [],
    resolve: () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })),
  })
  assert.match(await failure('not-sent', 'https://nowhere.example.org/', {}, unresolved), /ENOTFOUND/)
})

test('a handshake that hangs was not sent, also when the time for the whole call is up first', async (t) => {
  const port = await listen(
    t,
    createTcpServer(() => {}),
  )
  await failure('not-sent', `https://127.0.0.1:${port}/`, { timeoutMs: 50 })
})

test('private addresses are refused in every spelling, before anything connects', async (t) => {
  let connections = 0
  const port = await listen(
    t,
    createTcpServer(() => {
      connections += 1
    }),
  )
  const closed = createOutboundFetch({ allow: [] })
  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'localhost',
    '10.0.0.1',
  ]) {
    for (const scheme of ['http', 'https']) await failure('refused-address', `${scheme}://${host}:${port}/`, {}, closed)
    await failure('refused-address', `https://${host}/`, {}, closed)
  }
  assert.equal(connections, 0)
})

test('a name with one private address among public ones is refused: an answer that changes cannot bend the call', async () => {
  const rebinding = createOutboundFetch({
    allow: [],
    resolve: async () => [
      { address: '93.184.215.14', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ],
  })
  await failure('refused-address', 'https://rebinding.example.org/', {}, rebinding)
})

test('the address that was vetted is the one connected to, with the name in the Host header', async (t) => {
  const port = await serve(t, (request, response) => void response.end(request.headers.host))
  const fetch = createOutboundFetch({ allow: ['hooks.example.org'], resolve: toLoopback })
  assert.equal((await fetch(new Request(`http://hooks.example.org:${port}/`))).body, `hooks.example.org:${port}`)
})

test('the operator’s reach takes in private addresses without TLS, but no metadata address', async (t) => {
  const port = await serve(t, (_request, response) => void response.end('ok'))
  const fetch = createOutboundFetch({ allow: ['169.254.169.254'] })
  assert.equal((await fetch(new Request(`http://127.0.0.1:${port}/`), { reach: 'operator' })).body, 'ok')
  for (const host of [
    '169.254.169.254',
    '[fd00:ec2::254]',
    '100.100.100.200',
    'metadata.google.internal',
    '0xa9fea9fe',
  ]) {
    await failure('refused-address', `http://${host}/latest/meta-data/`, { reach: 'operator' }, fetch)
  }
})

test('a connection the operator’s reach opened does not serve a guarded call', async (t) => {
  const port = await serve(t, (_request, response) => void response.end('ok'))
  const fetch = createOutboundFetch({ allow: [], resolve: toLoopback })
  await fetch(new Request(`http://relay.example.org:${port}/`), { reach: 'operator' })
  await failure('refused-address', `http://relay.example.org:${port}/`, {}, fetch)
})

test('what the operator opens for a port, or for accounts alone, is open to nothing else', async (t) => {
  const port = await serve(t, (_request, response) => void response.end('ok'))
  const other = await serve(t, (_request, response) => void response.end('other'))
  const fetch = createOutboundFetch({ allow: outboundAllow(`accounts+http://127.0.0.1:${port}`) })
  assert.equal((await fetch(new Request(`http://127.0.0.1:${port}/`))).body, 'ok')
  await failure('refused-address', `http://127.0.0.1:${other}/`, {}, fetch)
  // Not by the connection that was opened for an account either.
  await failure('refused-address', `http://127.0.0.1:${port}/`, { isTheirs: true }, fetch)
})

test('where the operator’s reach is off, accounts reach what is public or listed', async (t) => {
  const port = await serve(t, (_request, response) => void response.end('ok'))
  const closed = createOutboundFetch({ allow: [], operatorReach: 'off' })
  await failure('refused-address', `http://127.0.0.1:${port}/`, { reach: 'operator' }, closed)
  const listed = createOutboundFetch({ allow: outboundAllow(`http://127.0.0.1:${port}`), operatorReach: 'off' })
  assert.equal((await listed(new Request(`http://127.0.0.1:${port}/`), { reach: 'operator' })).body, 'ok')
  const mail = createAccountAddresses({ allow: outboundAllow('smtp://10.0.0.9:2525'), operatorReach: 'off' })
  await assert.rejects(mail('10.0.0.8', 2525))
  await assert.rejects(mail('10.0.0.9', 25))
  assert.deepEqual(await mail('10.0.0.9', 2525), [{ address: '10.0.0.9', family: 4 }])
})

test('without the allow-list only https on port 443 is called', async () => {
  const fetch = createOutboundFetch({ allow: [], resolve: async () => [{ address: '93.184.215.14', family: 4 }] })
  await failure('refused-address', 'http://public.example.org/', {}, fetch)
  await failure('refused-address', 'https://public.example.org:8443/', {}, fetch)
  await failure('refused-address', 'data:text/plain,hello', {}, fetch)
})

test('the message of a failure holds the host and nothing of the path, which may be a secret', async () => {
  const message = await failure('refused-address', 'https://10.0.0.1/services/T000/very-secret?token=abc')
  assert.match(message, /10\.0\.0\.1/)
  assert.doesNotMatch(message, /secret|token/)
})

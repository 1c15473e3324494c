// Calls by a proxy: what it is asked for, what it is never asked for, and what its refusals mean.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { listenOnLoopback, makeServerCertificate, startHttp2Server } from '../../../test/support/outbound-tls.ts'
import { startProxy } from '../../../test/support/proxy-server.ts'
import type { OutboundAnswer, World } from '../world.ts'
import type { ResolveName } from './address-guard.ts'
import type { OutboundFailure } from './outbound-error.ts'
import { OutboundError } from './outbound-error.ts'
import type { OutboundFetchOptions } from './outbound-fetch.ts'
import { createOutboundFetch } from './outbound-fetch.ts'
import type { ProxySettings } from './outbound-proxy.ts'
import { createProxies } from './outbound-proxy.ts'

const certificate = makeServerCertificate()
const { ca } = certificate
const toLoopback: ResolveName = async () => [{ address: '127.0.0.1', family: 4 }]

function fetchBy(proxies: ProxySettings, change: Partial<OutboundFetchOptions> = {}): World['fetch'] {
  return createOutboundFetch({ allow: ['127.0.0.1'], resolve: toLoopback, ca, proxies, ...change })
}

const post = (url: string) => ({ url, method: 'POST', headers: { 'x-key': 'k' }, body: '{}' })

async function failure(kind: OutboundFailure, call: Promise<OutboundAnswer>): Promise<string> {
  const error = await call.then(
    (answer) => assert.fail(`answered with ${answer.status}`),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof OutboundError, String(error))
  assert.equal(error.kind, kind, error.message)
  return error.message
}

/** Says how it was reached. */
async function startTarget(t: TestContext): Promise<{ secure: number; plain: number; ports: Set<number | undefined> }> {
  const ports = new Set<number | undefined>()
  const [secure, plain] = [createSecureServer(certificate), createServer()]
  for (const server of [secure, plain]) {
    server.on('request', (request, response) => {
      ports.add(request.socket.remotePort)
      const { host, 'proxy-authorization': credentials, 'x-key': key } = request.headers
      response.end(JSON.stringify({ host, credentials, key, url: request.url }))
    })
  }
  return { secure: await listenOnLoopback(t, secure), plain: await listenOnLoopback(t, plain), ports }
}

test('an https address is reached through a tunnel to the address that was vetted; the name stays in TLS and Host', async (t) => {
  const target = await startTarget(t)
  for (const options of [{}, { certificate }]) {
    const proxy = await startProxy(t, options)
    const fetch = fetchBy({ https: proxy.url.replace('://', '://me:p%40ss@') })
    const answer = await fetch(post(`https://hooks.example.org:${target.secure}/a?b=c`))
    assert.deepEqual(JSON.parse(answer.body), { host: `hooks.example.org:${target.secure}`, key: 'k', url: '/a?b=c' })
    assert.deepEqual(proxy.asked, [`CONNECT 127.0.0.1:${target.secure}`])
    assert.deepEqual(proxy.authorizations, [`Basic ${Buffer.from('me:p@ss').toString('base64')}`])
  }
})

test('the certificate behind the tunnel must be for the name, and of an authority we trust', async (t) => {
  const target = await startTarget(t)
  const proxy = await startProxy(t)
  const url = `https://hooks.example.net:${target.secure}/`
  assert.match(await failure('not-sent', fetchBy({ https: proxy.url })(post(url))), /ERR_TLS_CERT_ALTNAME_INVALID/)
  const others = fetchBy({ https: proxy.url }, { ca: makeServerCertificate().ca })
  const words = await failure('not-sent', others(post(`https://hooks.example.org:${target.secure}/`)))
  assert.match(words, /its certificate is not trusted; .*POSTHORN_CA_FILE/)
  const secureProxy = await startProxy(t, { certificate })
  const toProxy = fetchBy({ https: secureProxy.url }, { ca: makeServerCertificate().ca })
  assert.match(
    await failure('not-sent', toProxy(post(`https://hooks.example.org:${target.secure}/`))),
    /^The proxy 127\.0\.0\.1 .*certificate is not trusted/,
  )
  assert.equal(target.ports.size, 0)
})

test('tunnels are kept, and are not shared between accounts', async (t) => {
  const target = await startTarget(t)
  const proxy = await startProxy(t)
  const fetch = fetchBy({ https: proxy.url })
  const [one, other] = [{}, {}]
  for (const account of [one, one, other, one]) {
    await fetch(post(`https://hooks.example.org:${target.secure}/`), { account })
  }
  assert.equal(proxy.asked.length, 2)
  assert.equal(target.ports.size, 2)
})

test('HTTP/2 goes through a tunnel, too', async (t) => {
  const proxy = await startProxy(t)
  const { port, sessions } = await startHttp2Server(t, certificate, (server) => {
    server.on('stream', (stream, headers) => {
      stream.respond({ ':status': 200 })
      stream.end(headers[':authority'])
    })
  })
  const fetch = fetchBy({ https: proxy.url })
  const calls = Array.from({ length: 20 }, () => fetch(post(`https://push.example.org:${port}/`), { http2: true }))
  for (const answer of await Promise.all(calls)) assert.equal(answer.body, `push.example.org:${port}`)
  assert.deepEqual(proxy.asked, [`CONNECT 127.0.0.1:${port}`])
  assert.equal(sessions.length, 1)
  const refusing = await startProxy(t, { statusOf: () => 403 })
  const refused = fetchBy({ https: refusing.url })(post(`https://push.example.org:${port}/`), { http2: true })
  assert.match(await failure('not-sent', refused), /^The proxy 127\.0\.0\.1 refused to connect to push\.example\.org/)
})

test('an http address that the operator wrote down is asked of the proxy by its name, once that was vetted', async (t) => {
  const target = await startTarget(t)
  for (const options of [{}, { certificate }]) {
    const proxy = await startProxy(t, options)
    const settings = { http: proxy.url.replace('://', '://me:pass@') }
    const url = `http://relay.example.org:${target.plain}/a?b=c`
    const answer = await fetchBy(settings, { allow: [] })(post(url), { reach: 'operator' })
    assert.deepEqual(JSON.parse(answer.body), {
      host: `relay.example.org:${target.plain}`,
      key: 'k',
      url: '/a?b=c',
      // Our proxy hands everything on; a real one keeps it to itself.
      credentials: `Basic ${Buffer.from('me:pass').toString('base64')}`,
    })
    await fetchBy(settings, { allow: ['relay.example.org'] })(post(url))
    assert.deepEqual(proxy.asked, [`POST ${url}`, `POST ${url}`])
  }
})

test('an http address that is allowed only for where it leads goes through a tunnel to just there', async (t) => {
  const target = await startTarget(t)
  const proxy = await startProxy(t)
  const answer = await fetchBy({ http: proxy.url })(post(`http://hooks.example.org:${target.plain}/`))
  assert.equal(JSON.parse(answer.body).host, `hooks.example.org:${target.plain}`)
  assert.deepEqual(proxy.asked, [`CONNECT 127.0.0.1:${target.plain}`])
})

test('a private or a metadata address is never asked of a proxy', async (t) => {
  const proxy = await startProxy(t)
  const settings: ProxySettings = { https: proxy.url, http: proxy.url }
  for (const asks of ['address', 'name'] as const) {
    const guarded = fetchBy({ ...settings, target: asks }, { allow: [] })
    await failure('refused-address', guarded(post('https://rebinding.example.org/')))
    await failure('refused-address', guarded(post('https://rebinding.example.org/'), { http2: true }))
    await failure('refused-address', guarded(post('http://rebinding.example.org/')))
    await failure('refused-address', guarded(post('https://10.0.0.1/')))
    const toMetadata = fetchBy(
      { ...settings, target: asks },
      { allow: ['cloud.example.org'], resolve: async () => [{ address: '169.254.169.254', family: 4 }] },
    )
    for (const host of ['cloud.example.org', '169.254.169.254', 'metadata.google.internal', '[fd00:ec2::254]']) {
      for (const scheme of ['http', 'https']) {
        const url = `${scheme}://${host}/latest/meta-data/`
        await failure('refused-address', toMetadata(post(url), { reach: 'operator' }))
      }
      await failure('refused-address', toMetadata(post(`https://${host}/`), { http2: true, reach: 'operator' }))
    }
  }
  assert.deepEqual(proxy.asked, [])
})

test('a name unknown here is the proxy’s to resolve only where the operator wrote it down', async (t) => {
  const target = await startTarget(t)
  const proxy = await startProxy(t)
  const resolve: ResolveName = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))
  const fetch = fetchBy({ https: proxy.url }, { allow: ['listed.example.org'], resolve })
  const url = (name: string): string => `https://${name}.example.org:${target.secure}/`
  await fetch(post(url('relay')), { reach: 'operator' })
  await fetch(post(url('listed')))
  assert.match(await failure('not-sent', fetch(post('https://hooks.example.org/'))), /ENOTFOUND/)
  await failure('not-sent', fetch(post(url('hooks'))))
  const asked = ['relay', 'listed'].map((name) => `CONNECT ${name}.example.org:${target.secure}`)
  assert.deepEqual(proxy.asked, asked)
})

test('a proxy that goes by names is asked for the name', async (t) => {
  const target = await startTarget(t)
  const proxy = await startProxy(t)
  const fetch = fetchBy({ https: proxy.url, target: 'name' })
  await fetch(post(`https://hooks.example.org:${target.secure}/`))
  assert.deepEqual(proxy.asked, [`CONNECT hooks.example.org:${target.secure}`])
})

test('the second address is asked for when the proxy cannot reach the first, and none when it does not want to', async (t) => {
  const target = await startTarget(t)
  const both: ResolveName = async () => [
    { address: '::1', family: 6 },
    { address: '127.0.0.2', family: 4 },
  ]
  const ask = (url: string) =>
    fetchBy(
      { https: url },
      { allow: ['127.0.0.2', '::1'], resolve: both },
    )(post(`https://hooks.example.org:${target.secure}/`))
  const half = await startProxy(t, { statusOf: (line) => (line.includes('127.0.0.2') ? 503 : 200) })
  assert.equal((await ask(half.url)).status, 200)
  assert.deepEqual(half.asked, [`CONNECT 127.0.0.2:${target.secure}`, `CONNECT [::1]:${target.secure}`])
  const closed = await startProxy(t, { statusOf: () => 407 })
  assert.match(await failure('not-sent', ask(closed.url)), /without another user name and password/)
  assert.equal(closed.asked.length, 1)
})

test('whatever goes wrong before the tunnel is up was not sent', async (t) => {
  const url = 'https://hooks.example.org:8443/secret-path'
  const ask = (proxy: string, timeoutMs = 20_000) => fetchBy({ https: proxy })(post(url), { timeoutMs })
  for (const status of [302, 403, 407, 502]) {
    const proxy = await startProxy(t, { statusOf: () => status })
    const words = await failure('not-sent', ask(proxy.url.replace('://', '://me:very-secret@')))
    assert.match(words, /^The proxy 127\.0\.0\.1 refused to connect to hooks\.example\.org/)
    assert.doesNotMatch(words, /secret/)
  }
  assert.match(
    await failure('not-sent', ask('http://127.0.0.1:9')),
    /^Could not connect to the proxy 127\.0\.0\.1 .*ECONNREFUSED/,
  )
  const silent = await startProxy(t, { isSilent: true })
  await failure('not-sent', ask(silent.url, 100))
  const notOne = createServer((request) => request.socket.destroy())
  notOne.on('connect', (_request, socket) => socket.end('SSH-2.0-hello\r\n'))
  await failure('not-sent', ask(`http://127.0.0.1:${await listenOnLoopback(t, notOne)}`))
  const chatty = createServer()
  chatty.on('connect', (_request, socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nhello'))
  await failure('not-sent', ask(`http://127.0.0.1:${await listenOnLoopback(t, chatty)}`))
})

test('a proxy that takes a named http address and wants another password was not sent; its other answers are answers', async (t) => {
  const ask = async (status: number) => {
    const proxy = await startProxy(t, { statusOf: () => status })
    return fetchBy({ http: proxy.url })(post('http://relay.example.org/'), { reach: 'operator' })
  }
  await failure('not-sent', ask(407))
  assert.equal((await ask(503)).status, 503)
})

test('this machine and what NO_PROXY lists are called without a proxy', async (t) => {
  const target = await startTarget(t)
  const proxy = await startProxy(t)
  const settings = { https: proxy.url, http: proxy.url }
  const fetch = fetchBy({ ...settings, none: ['hooks.example.org'] }, { allow: ['127.0.0.1', 'localhost'] })
  for (const host of ['hooks.example.org', 'localhost', '127.0.0.1']) {
    assert.equal((await fetch(post(`https://${host}:${target.secure}/`))).status, 200, host)
    assert.equal((await fetch(post(`http://${host}:${target.plain}/`))).status, 200, host)
  }
  assert.deepEqual(proxy.asked, [])
  await fetch(post(`https://other.example.org:${target.secure}/`))
  assert.equal(proxy.asked.length, 1)
})

test('NO_PROXY knows hosts with all below them, suffixes, addresses, networks and ports', () => {
  const isDirect = (entry: string, host: string, port = 443): boolean =>
    createProxies({ https: 'http://proxy:3128', none: [entry] })?.of(true, host, port) === undefined
  const direct: readonly [entry: string, host: string, port?: number][] = [
    ['*', 'anything.example.org'],
    ['example.org', 'example.org'],
    ['example.org', 'a.b.example.org'],
    ['EXAMPLE.org.', 'example.org'],
    ['.example.org', 'a.example.org'],
    ['*.example.org', 'a.example.org'],
    ['example.org:8443', 'example.org', 8443],
    ['10.0.0.0/8', '10.1.2.3'],
    ['10.1.2.3', '10.1.2.3'],
    ['10.1.2.3:8443', '10.1.2.3', 8443],
    ['fd00::/8', 'fd00::1'],
    ['fd00::1', 'fd00::1'],
    ['[fd00::1]:443', 'fd00::1'],
    ['*:8443', 'anything.example.org', 8443],
    ['other', 'localhost'],
    ['other', '127.8.9.1'],
    ['other', '::1'],
  ]
  for (const [entry, host, port] of direct) assert.ok(isDirect(entry, host, port), `${entry} ${host}`)
  const proxied: readonly [entry: string, host: string, port?: number][] = [
    ['example.org', 'badexample.org'],
    ['example.org', 'example.org.evil.net'],
    ['.example.org', 'example.org'],
    ['*.example.org', 'example.org'],
    ['example.org:8443', 'example.org', 443],
    ['10.0.0.0/8', '11.1.2.3'],
    ['10.0.0.0/8', 'ten.example.org'],
    ['10.1.2.3', '10.1.2.30'],
    ['[fd00::1]:443', 'fd00::1', 8443],
    ['*:8443', 'anything.example.org', 443],
  ]
  for (const [entry, host, port] of proxied) assert.ok(!isDirect(entry, host, port), `${entry} ${host}`)
})

// Certificates for servers of tests on this machine, and an HTTP/2 server with one.
import type { Http2SecureServer, SecureServerOptions, ServerHttp2Session } from 'node:http2'
import { createSecureServer } from 'node:http2'
import type { AddressInfo, Server, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import type { TestContext } from 'node:test'
import { keyInPem, makeAuthority, makeServerCertificate as signedCertificate } from './certificates.ts'

export interface ServerCertificate {
  /** The authority that signed it, in PEM, for `createOutboundFetch({ ca })`. */
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/** None of them is a name of the real world. */
const certificateNames = ['localhost', '127.0.0.1', '*.example.org', 'example.org']

/** For localhost, 127.0.0.1 and every host of example.org, signed by an authority of its own. */
export function makeServerCertificate(): ServerCertificate {
  const authority = makeAuthority()
  const server = signedCertificate(authority, certificateNames)
  return { ca: authority.certificate, cert: server.certificate, key: keyInPem(server) }
}

/** Listens on a free port of the loopback until the test ends, which no connection holds up. */
export async function listenOnLoopback(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

export interface StartedHttp2Server {
  readonly port: number
  readonly server: Http2SecureServer
  /** Every connection that was made, in order. */
  readonly sessions: ServerHttp2Session[]
}

/** `onStart` adds what the server answers with, as `server.on('stream', …)`. */
export async function startHttp2Server(
  t: TestContext,
  certificate: ServerCertificate,
  onStart: (server: Http2SecureServer) => void,
  options: SecureServerOptions = {},
): Promise<StartedHttp2Server> {
  const { cert, key } = certificate
  const server = createSecureServer({ cert, key, ...options })
  const sessions: ServerHttp2Session[] = []
  server.on('session', (session) => {
    sessions.push(session)
    session.on('error', () => {})
  })
  server.on('sessionError', () => {})
  onStart(server)
  return { port: await listenOnLoopback(t, server), server, sessions }
}

/** Until the other side has answered a ping: what it sent before is here by then. */
export const pinged = (session: ServerHttp2Session): Promise<void> =>
  new Promise((resolve, reject) => {
    session.ping((error) => (error === null ? resolve() : reject(error)))
  })

/** Like a router that forgets a connection: nothing gets through any more, and no one is notified. */
export async function startRouter(t: TestContext, port: number): Promise<{ port: number; forget(): void }> {
  const connections: Socket[] = []
  const router = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    connections.push(near, far)
    for (const socket of [near, far]) socket.on('error', () => {})
    near.pipe(far).pipe(near)
    near.once('close', () => far.destroy())
  })
  const forget = (): void => {
    for (const socket of connections) socket.unpipe().pause()
  }
  return { port: await listenOnLoopback(t, router), forget }
}

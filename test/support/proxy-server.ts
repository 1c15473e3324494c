// A proxy on this machine: it leads where it is asked to, or says no, and remembers what it was asked for.
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { createServer, request as openRequest } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import type { TestContext } from 'node:test'
import type { ServerCertificate } from './outbound-tls.ts'
import { listenOnLoopback } from './outbound-tls.ts'

export interface StartedProxy {
  /** For settings: its address without user and password. */
  readonly url: string
  readonly port: number
  /** The request lines it got, as `CONNECT 127.0.0.1:443`. */
  readonly asked: string[]
  /** What it was sent about the caller, in the same order. */
  readonly authorizations: (string | undefined)[]
}

export interface ProxyOptions {
  /** With one it speaks TLS itself. */
  readonly certificate?: ServerCertificate
  /** The answer to a request for a tunnel, or to any other; 200 and whatever comes from there, by default. */
  statusOf?(line: string): number
  /** Takes the request for a tunnel and never answers. */
  readonly isSilent?: boolean
}

/** It resolves no names: all of them are this machine. */
export async function startProxy(t: TestContext, options: ProxyOptions = {}): Promise<StartedProxy> {
  const { certificate, statusOf = () => 200, isSilent = false } = options
  const asked: string[] = []
  const authorizations: (string | undefined)[] = []
  const note = (request: IncomingMessage): number => {
    const line = `${request.method} ${request.url}`
    asked.push(line)
    authorizations.push(request.headers['proxy-authorization'])
    return statusOf(line)
  }
  const pass: RequestListener = (request, response) => {
    const status = note(request)
    if (status !== 200) {
      response.writeHead(status).end('no')
      return
    }
    const { port, pathname, search, host } = new URL(request.url ?? '')
    const headers = { ...request.headers, host }
    const onward = openRequest({ port, path: pathname + search, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(response)
    })
    request.pipe(onward)
  }
  const server: Server = certificate === undefined ? createServer(pass) : createSecureServer(certificate, pass)
  server.on('connect', (request: IncomingMessage, near: Socket) => {
    const status = note(request)
    near.on('error', () => {})
    if (isSilent) return
    if (status !== 200) {
      near.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    const far = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1', () => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n')
      near.pipe(far).pipe(near)
    })
    far.on('error', () => near.destroy())
    near.once('close', () => far.destroy())
  })
  const port = await listenOnLoopback(t, server)
  return { url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`, port, asked, authorizations }
}

// A push vendor that speaks HTTP/2 on this machine: what it was asked, by which connection, and how it answers.
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { TestContext } from 'node:test'
import { createOutboundFetch } from '../../src/world/outbound/outbound-fetch.ts'
import type { World } from '../../src/world/world.ts'
import type { FakeWorld } from './fake-world.ts'
import { createFakeWorld } from './fake-world.ts'
import { makeServerCertificate, startHttp2Server } from './outbound-tls.ts'

const certificate = makeServerCertificate()

export interface Http2Call {
  readonly stream: ServerHttp2Stream
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Which of the vendor's connections it came by, from 0. */
  readonly connection: number
}

export interface Http2Vendor {
  readonly world: FakeWorld
  readonly calls: Http2Call[]
  readonly sessions: ServerHttp2Session[]
}

/** Calls to the vendor's own hosts are led here; `others` answers those that do not go by HTTP/2. */
export async function startHttp2Vendor(
  t: TestContext,
  answer: (call: Http2Call) => void,
  { streamsMax = 1_000, others }: { readonly streamsMax?: number; readonly others?: World['fetch'] } = {},
): Promise<Http2Vendor> {
  const calls: Http2Call[] = []
  const { port, sessions } = await startHttp2Server(
    t,
    certificate,
    (server) => {
      server.on('stream', (stream, headers) => {
        const connection = sessions.indexOf(stream.session as ServerHttp2Session)
        let body = ''
        stream.on('error', () => {})
        stream.setEncoding('utf8').on('data', (chunk: string) => {
          body += chunk
        })
        stream.once('end', () => {
          if (stream.destroyed) return
          const call = { stream, headers, body, connection }
          calls.push(call)
          answer(call)
        })
      })
    },
    { settings: { maxConcurrentStreams: streamsMax } },
  )
  const fetch = createOutboundFetch({ allow: ['127.0.0.1'], ca: certificate.ca })
  const world = createFakeWorld()
  world.fetch = async (request, options = {}) => {
    if (options.http2 !== true && others !== undefined) return others(request, options)
    if (request instanceof Request) throw new Error('a plain request was expected')
    const { pathname, search } = new URL(request.url)
    return fetch({ ...request, url: `https://127.0.0.1:${port}${pathname}${search}` }, options)
  }
  return { world, calls, sessions }
}

export function respond({ stream }: Http2Call, status: number, body = '', headers: Record<string, string> = {}): void {
  if (stream.destroyed || stream.closed) return
  stream.respond({ ':status': status, ...headers })
  stream.end(body)
}

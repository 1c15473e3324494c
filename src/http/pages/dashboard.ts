// The dashboard's pages: its assets, the frame for every address that is a page, and the sandbox in which messages are shown.
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DashboardFile, DashboardFiles } from './dashboard-files.ts'

/** First parts of paths that are never a page. */
const notPages: ReadonlySet<string> = new Set([
  ...['v1', 'v2', 'docs', 'health', 'ready', 'metrics', 'openapi.json', 'assets', 'message-frame', 'favicon.ico'],
])

const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** File names contain a hash of the content, so a file never changes. */
const foreverCached = 'public, max-age=31536000, immutable'
const alwaysAsked = 'no-cache'

export interface DashboardPages {
  /** Whether a browser asks for a page, rather than a program for the API. */
  isPage(request: FastifyRequest): boolean
  answer(request: FastifyRequest, reply: FastifyReply): FastifyReply
}

export function installPages(app: FastifyInstance, files: DashboardFiles): DashboardPages {
  app.get<{ Params: { name: string } }>('/assets/:name', async (request, reply) => {
    const file = files.assets.get(request.params.name)
    if (file === undefined) return reply.callNotFound()
    return send(request, reply.header('cache-control', foreverCached), file)
  })
  app.get<{ Querystring: { images?: unknown } }>('/message-frame', async (request, reply) =>
    reply
      .headers({ ...frameHeaders, 'content-security-policy': framePolicy(request.query.images === 'on') })
      .type('text/html; charset=utf-8')
      .send(framePage),
  )
  return {
    isPage({ method, url, headers: { accept = '' } }) {
      if (method !== 'GET' && method !== 'HEAD') return false
      const first = url.split('?', 1)[0]?.split('/')[1] ?? ''
      return /\btext\/html\b/.test(accept) && !notPages.has(first)
    },
    answer: (request, reply) =>
      send(
        request,
        reply.headers({ 'content-security-policy': pagePolicy, 'cache-control': alwaysAsked, vary: 'accept' }),
        files.page,
      ),
  }
}

function send(request: FastifyRequest, reply: FastifyReply, file: DashboardFile): FastifyReply {
  reply.code(200).header('etag', file.etag).header('vary', 'accept, accept-encoding')
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send()
  reply.type(file.type)
  const accepted = String(request.headers['accept-encoding'] ?? '')
  if (file.br !== undefined && /\bbr\b/.test(accepted)) return reply.header('content-encoding', 'br').send(file.br)
  if (file.gzip !== undefined && /\bgzip\b/.test(accepted)) {
    return reply.header('content-encoding', 'gzip').send(file.gzip)
  }
  return reply.send(file.plain)
}

/**
 * Messages hold HTML of others. The dashboard puts this page into a frame of its own opaque origin and hands the message to its
 * one script, which puts it into a second frame: there no script runs, and nothing is fetched unless images are asked for.
 */
const frameScript = `addEventListener('message', (event) => {
  if (event.source !== parent || typeof event.data !== 'string') return
  document.querySelector('iframe').srcdoc = event.data
})
parent.postMessage('ready', '*')`
const frameStyle = 'html,body{margin:0;height:100%}iframe{border:0;width:100%;height:100%;display:block}'
const framePage = `<!doctype html><html lang="en"><title>Message</title><style>${frameStyle}</style><iframe title="Message" sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe><script>${frameScript}</script></html>`
const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const framePolicy = (withImages: boolean): string =>
  [
    "default-src 'none'",
    `script-src ${hashOf(frameScript)}`,
    "style-src 'unsafe-inline'",
    `img-src data:${withImages ? ' https: http:' : ''}`,
    `font-src data:${withImages ? ' https:' : ''}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox',
  ].join('; ')

const frameHeaders = { 'x-frame-options': 'SAMEORIGIN', 'cache-control': 'no-cache' }

// /openapi.json and /docs: the interface, for programs and for people.
import { createHash, randomBytes } from 'node:crypto'
import scalar from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'
import { styleScript } from './docs-styles.ts'

/**
 * The reference page includes its own script and styles; nothing is fetched from elsewhere. Inline scripts are allowed by
 * their hash, so that no other runs, and styles by a nonce that only scripts know.
 */
const pagePolicy = (scripts: readonly string[], nonce: string): string =>
  [
    "default-src 'self'",
    `script-src ${["'self'", ...scripts].join(' ')}`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: https:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** Without an icon of its own, a browser would ask for one that does not exist. */
const emptyIcon = '<link rel="icon" href="data:," />'

const completed = (html: string, nonce: string): string =>
  html.replace('<head>', `<head>\n    ${emptyIcon}\n    <script nonce="${nonce}">${styleScript}</script>`)

/** The hashes of the scripts that stand within a page. */
function hashesOfScripts(html: string): string[] {
  return [...html.matchAll(/<script(?![^>]*\ssrc\s*=)[^>]*>([\s\S]*?)<\/script>/gi)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  )
}

/** The document is built on the first request: startup does not wait for it. */
export async function installDocs(app: FastifyInstance, makeDocument: () => object): Promise<void> {
  let text: string | undefined
  app.get('/openapi.json', async (_request, reply) => {
    text ??= JSON.stringify(makeDocument())
    return reply.type('application/json; charset=utf-8').send(text)
  })
  await app.register(async (pages) => {
    pages.addHook('onSend', async (_request, reply, payload) => {
      const nonce = randomBytes(16).toString('base64')
      const isPage = typeof payload === 'string' && /^text\/html/.test(String(reply.getHeader('content-type') ?? ''))
      const page = isPage ? completed(payload, nonce) : payload
      reply.header('content-security-policy', pagePolicy(isPage ? hashesOfScripts(String(page)) : [], nonce))
      return page
    })
    await pages.register(scalar, {
      routePrefix: '/docs',
      configuration: {
        url: '/openapi.json',
        title: 'Posthorn API',
        telemetry: false,
        withDefaultFonts: false,
        // Services of others: the page reads our document and calls our API, nothing else.
        showDeveloperTools: 'never',
        hideClientButton: true,
        agent: { disabled: true },
      },
    })
  })
}

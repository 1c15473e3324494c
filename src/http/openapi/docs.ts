// /openapi.json and /docs: the interface, for programs and for people.
import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { FastifyInstance } from 'fastify'
import { styleScript } from './docs-styles.ts'

const settings = {
  url: '/openapi.json',
  title: 'Posthorn API',
  telemetry: false,
  withDefaultFonts: false,
  // Services of others: the page reads our document and calls our API, nothing else.
  showDeveloperTools: 'never',
  hideClientButton: true,
  agent: { disabled: true },
}
const startScript = `Scalar.createApiReference('#app', ${JSON.stringify(settings)})`

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/**
 * The reference includes its own script and styles; nothing is fetched from elsewhere. Inline scripts are allowed by their
 * hash, so that no other runs, and styles by a nonce that only scripts know.
 */
const pagePolicy = (nonce: string): string =>
  [
    "default-src 'self'",
    `script-src 'self' ${hashOf(styleScript)} ${hashOf(startScript)}`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: https:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** Without an icon of its own, a browser would ask for one that does not exist. */
const pageOf = (nonce: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Posthorn API</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <link rel="icon" href="data:," />
    <script nonce="${nonce}">${styleScript}</script>
  </head>
  <body>
    <div id="app"></div>
    <script src="js/scalar.js"></script>
    <script>${startScript}</script>
  </body>
</html>
`

/** Of the package only the script is used: its own routes trust the Host header, and fail for some. */
const readScript = (): Promise<Buffer> =>
  readFile(
    createRequire(import.meta.url)
      .resolve('@scalar/fastify-api-reference')
      .replace(/index\.js$/, 'js/standalone.js'),
  )

/** The document is built, and the script read, on the first request: startup does not wait for them. */
export function installDocs(app: FastifyInstance, makeDocument: () => object): void {
  let text: string | undefined
  let script: Promise<Buffer> | undefined
  app.get('/openapi.json', async (_request, reply) => {
    text ??= JSON.stringify(makeDocument())
    return reply.type('application/json; charset=utf-8').send(text)
  })
  app.get('/docs', async (request, reply) => {
    // Its own address ends in a slash, so that what it names beside it is found behind any prefix.
    if (!/^[^?]*\/(?:\?|$)/.test(request.url)) return reply.redirect('docs/', 301)
    const nonce = randomBytes(16).toString('base64')
    return reply
      .header('content-security-policy', pagePolicy(nonce))
      .type('text/html; charset=utf-8')
      .send(pageOf(nonce))
  })
  app.get('/docs/js/scalar.js', async (_request, reply) => {
    script ??= readScript()
    return reply.type('text/javascript; charset=utf-8').send(await script)
  })
}

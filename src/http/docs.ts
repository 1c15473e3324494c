// /openapi.json and /docs: the interface, for programs and for people.
import scalar from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'

/** The reference page brings its own script and styles; nothing is fetched from elsewhere. */
const pagePolicy =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: https:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'"

/** The document is made when it is first asked for: a start does not wait for it. */
export async function installDocs(app: FastifyInstance, makeDocument: () => object): Promise<void> {
  let text: string | undefined
  app.get('/openapi.json', async (_request, reply) => {
    text ??= JSON.stringify(makeDocument())
    return reply.type('application/json; charset=utf-8').send(text)
  })
  await app.register(async (pages) => {
    pages.addHook('onSend', async (_request, reply) => {
      reply.header('content-security-policy', pagePolicy)
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

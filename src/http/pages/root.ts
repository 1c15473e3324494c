// GET /: the dashboard for browsers, and for all others what there is to find here.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { basePathOf } from '../base-path.ts'
import type { DashboardPages } from './dashboard.ts'

export interface RootOptions {
  readonly baseUrl: string
  /** `on` where it is left out. */
  readonly docs?: 'on' | 'off'
  /** Only what reports whether it runs. */
  readonly healthOnly?: boolean
}

/** `pages`: those of the dashboard, once they are known. */
export function installRoot(app: FastifyInstance, options: RootOptions, pages: () => DashboardPages | undefined): void {
  const basePath = basePathOf(options.baseUrl)
  const hasDocs = options.docs !== 'off' && options.healthOnly !== true
  const links = {
    name: 'Posthorn',
    ...(hasDocs ? { docs: `${basePath}docs`, openapi: `${basePath}openapi.json` } : {}),
    health: `${basePath}health`,
    ready: `${basePath}ready`,
  }
  app.get('/', async (request, reply): Promise<FastifyReply> => {
    const found = pages()
    if (found?.isPage(request) === true) return found.answer(request, reply)
    const isBrowser = /\btext\/html\b/.test(request.headers.accept ?? '')
    if (isBrowser && hasDocs) return reply.redirect(links.docs ?? '', 302)
    return reply.header('vary', 'accept').send(found === undefined ? links : { ...links, dashboard: basePath })
  })
}

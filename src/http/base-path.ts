// The path below which callers reach the service, where a proxy puts it below one.
import type { FastifyServerOptions } from 'fastify'

/** With a slash at its end; `/` where there is none. */
export function basePathOf(baseUrl: string): string {
  const path = URL.canParse(baseUrl) ? new URL(baseUrl).pathname : '/'
  return path.endsWith('/') ? path : `${path}/`
}

/** A proxy may pass the path on, or strip it: both are understood. */
export function withoutBasePath(base: string): Pick<FastifyServerOptions, 'rewriteUrl'> {
  return base === '/' ? {} : { rewriteUrl: ({ url = '/' }) => belowBase(base, url) }
}

/** What the service calls that path. Upgrades are not routed, and so not rewritten by themselves. */
export function belowBase(base: string, url: string): string {
  if (url.startsWith(base)) return url.slice(base.length - 1)
  return url === base.slice(0, -1) ? '/' : url
}

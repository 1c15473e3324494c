// Which pages may call the inbox: those of all origins, unless the installation names some.
import { warningsHeader } from '../warnings.ts'

/** Which pages may call the inbox. */
export interface OpenTo {
  readonly cors: { readonly origin: string | string[]; readonly maxAge: number; readonly exposedHeaders: string[] }
  /** Browsers ask no one before they open a socket: there it is looked at by us. Apps name no origin. */
  mayOpen(origin: string | undefined): boolean
}

/** Of these origins. A day, for browsers that cache preflight responses that long. */
export function openToPages(origins: readonly string[]): OpenTo {
  const isAny = origins.includes('*')
  return {
    cors: { origin: isAny ? '*' : [...origins], maxAge: 86_400, exposedHeaders: [warningsHeader] },
    mayOpen: (origin) => isAny || origin === undefined || origins.includes(origin),
  }
}

/** Of every origin: an inbox is protected by the token, and there are no cookies. */
export const anyOrigin = openToPages(['*']).cors

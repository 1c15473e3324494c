// Sessions of the dashboard: how long they and the links to them live, and the secret of a link.
import { createHash, randomBytes } from 'node:crypto'
import { isUuid } from '../uuid-v7.ts'

export const sessionLifeMs = 12 * 60 * 60_000
export const linkLifeMs = 10 * 60_000

const secretBytes = 32

export interface SignInLink {
  readonly environmentId: string
  readonly secret: string
}

export const newSignInLink = (environmentId: string): SignInLink => ({
  environmentId,
  secret: randomBytes(secretBytes).toString('base64url'),
})

/** The part of a link after the `#`, which browsers do not send to servers or proxies. */
export const textOfLink = ({ environmentId, secret }: SignInLink): string => `${environmentId}.${secret}`

export function linkOfText(text: string): SignInLink | undefined {
  const [environmentId = '', secret = '', ...rest] = text.split('.')
  return isUuid(environmentId) && secret !== '' && rest.length === 0 ? { environmentId, secret } : undefined
}

export const hashOfLink = ({ secret }: SignInLink): Buffer => createHash('sha256').update(secret).digest()

/** The path of the page at which a link signs in. */
export const signInPath = '/sign-in'

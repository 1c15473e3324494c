// Keys on the curve P-256 and the ES256 tokens they sign, for Apple's push service and for web push.
// https://www.rfc-editor.org/rfc/rfc7518#section-3.4
import type { KeyObject } from 'node:crypto'
import { createPrivateKey, sign } from 'node:crypto'

/** The key in a PEM, or nothing if it has none on P-256. */
export function p256KeyOf(pem: string): KeyObject | undefined {
  try {
    // After an environment variable, a file often contains `\n` instead of line breaks.
    const key = createPrivateKey(pem.replaceAll('\\n', '\n'))
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined
  } catch {
    return undefined
  }
}

/** A signed token; its signature is r and s side by side, not DER. */
export function es256Token(key: KeyObject, header: object, claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const content = `${part(header)}.${part(claims)}`
  return `${content}.${sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

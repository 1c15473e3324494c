// The address that answers to an e-mail go to: it names the message, and is signed with the environment's secret.
import { createHmac, timingSafeEqual } from 'node:crypto'

/** Lowercase letters and digits only: mail servers may change the case of the part before the @. */
const addressPattern = /^reply\+([0-9a-f]{32})([0-9a-f]{20})@/
/** 80 bits: it cannot be guessed, and the whole fits within the 64 characters that may precede an @. */
const signatureBytes = 10
/** The secret once signed for other purposes too: so the signed text states its purpose. */
const purpose = 'posthorn reply\n'

export function writeReplyAddress(messageId: string, domain: string, secret: Buffer): string {
  const name = messageId.replaceAll('-', '').toLowerCase()
  return `reply+${name}${signatureOf(name, secret).toString('hex')}@${domain}`
}

/** The message that one of the addresses names, where it is signed with one of the keys. */
export function readReplyAddress(addresses: readonly string[], keys: readonly Buffer[]): string | undefined {
  for (const address of addresses) {
    const [, name = '', signature = ''] = addressPattern.exec(address.trim().toLowerCase()) ?? []
    if (name === '') continue
    const given = Buffer.from(signature, 'hex')
    if (keys.some((key) => timingSafeEqual(given, signatureOf(name, key)))) return uuidOf(name)
  }
  return undefined
}

function signatureOf(name: string, secret: Buffer): Buffer {
  return createHmac('sha256', secret).update(purpose).update(name).digest().subarray(0, signatureBytes)
}

const uuidOf = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')

// Message encryption for web push: only the browser that subscribed can read what passes through its push service.
// https://www.rfc-editor.org/rfc/rfc8291 and https://www.rfc-editor.org/rfc/rfc8188
import type { ECDH } from 'node:crypto'
import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'

const saltBytes = 16
const publicKeyBytes = 65
const authBytes = 16
const tagBytes = 16
/** Push services need not accept more than this in a body. */
const bodyBytesMax = 4_096
/** Salt, record size, length of the key, key: all that comes before the record. */
const headerBytes = saltBytes + 4 + 1 + publicKeyBytes
/** The record ends with a byte that says it is the last, and a tag. */
export const plainBytesMax = bodyBytesMax - headerBytes - 1 - tagBytes

/** What a browser gives with its subscription. */
export interface BrowserKeys {
  readonly p256dh: Buffer
  readonly auth: Buffer
}

/** The keys of a subscription, or nothing if they are invalid. */
export function browserKeysOf(p256dh: string, auth: string): BrowserKeys | undefined {
  const keys = { p256dh: Buffer.from(p256dh, 'base64url'), auth: Buffer.from(auth, 'base64url') }
  const fits = keys.p256dh.length === publicKeyBytes && keys.p256dh[0] === 4 && keys.auth.length === authBytes
  return fits ? keys : undefined
}

/** The pair and the salt are new for each message; tests pass known ones. Throws if the key is not a point on the curve. */
export function encrypted(
  plain: Buffer,
  { p256dh, auth }: BrowserKeys,
  { pair = newPair(), salt = randomBytes(saltBytes) }: { readonly pair?: ECDH; readonly salt?: Buffer } = {},
): Buffer {
  const own = pair.getPublicKey()
  const about = Buffer.concat([Buffer.from('WebPush: info\0'), p256dh, own])
  const material = derived(pair.computeSecret(p256dh), auth, about, 32)
  const key = derived(material, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
  const nonce = derived(material, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  const recordSize = Buffer.alloc(4)
  recordSize.writeUInt32BE(bodyBytesMax)
  return Buffer.concat([
    salt,
    recordSize,
    Buffer.from([own.length]),
    own,
    cipher.update(plain),
    // The delimiter of the last record.
    cipher.update(Buffer.from([2])),
    cipher.final(),
    cipher.getAuthTag(),
  ])
}

function newPair(): ECDH {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  return pair
}

function derived(material: Buffer, salt: Buffer, about: Buffer, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', material, salt, about, bytes))
}

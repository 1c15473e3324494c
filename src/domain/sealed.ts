// Sealing secrets at rest: AES-256-GCM, bound to the environment and the purpose they were sealed for.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

export interface Sealer {
  /** The id of the key that seals now, to find what is still sealed with an older one. */
  readonly keyId: Buffer
  seal(environmentId: string, purpose: SealPurpose, plain: string): Buffer
  open(environmentId: string, purpose: SealPurpose, sealed: Buffer): string
}

export type SealPurpose =
  | 'installation'
  | 'signing-secret'
  | 'integration-credentials'
  | 'integration-configurations'
  | 'channel-credentials'
  | 'idempotent-answer'
  | 'address-key'
  | 'api-key'
  | 'inbox-key'

/** The sealed value names a key we do not hold, or was changed or moved. */
export class UnsealError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UnsealError'
  }
}

// Layout: 1 byte version, 4 bytes key id, 12 bytes nonce, 16 bytes tag, then the ciphertext.
const version = 1
const keyIdBytes = 4
const nonceBytes = 12
const tagBytes = 16
const headerBytes = 1 + keyIdBytes + nonceBytes + tagBytes

/** Seals with the first key and opens with any of them. */
export function createSealer(keys: readonly [Buffer, ...Buffer[]]): Sealer {
  const byId = new Map(keys.map((key) => [keyIdOf(key).toString('hex'), key]))
  const [current] = keys
  const keyId = keyIdOf(current)
  return {
    keyId,
    seal(environmentId, purpose, plain) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', current, nonce)
      cipher.setAAD(associatedData(environmentId, purpose))
      const ciphertext = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.of(version), keyId, nonce, cipher.getAuthTag(), ciphertext])
    },
    open(environmentId, purpose, sealed) {
      if (sealed.length < headerBytes || sealed[0] !== version) throw new UnsealError('Not a sealed value')
      const key = byId.get(sealed.subarray(1, 1 + keyIdBytes).toString('hex'))
      if (key === undefined) throw new UnsealError('Sealed with an encryption key this node does not hold')
      const nonce = sealed.subarray(1 + keyIdBytes, 1 + keyIdBytes + nonceBytes)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
      decipher.setAAD(associatedData(environmentId, purpose))
      decipher.setAuthTag(sealed.subarray(headerBytes - tagBytes, headerBytes))
      try {
        return Buffer.concat([decipher.update(sealed.subarray(headerBytes)), decipher.final()]).toString('utf8')
      } catch {
        throw new UnsealError('The sealed value was changed, or belongs to another environment or purpose')
      }
    },
  }
}

function keyIdOf(key: Buffer): Buffer {
  return createHash('sha256').update('posthorn key id').update(key).digest().subarray(0, keyIdBytes)
}

function associatedData(environmentId: string, purpose: SealPurpose): Buffer {
  return Buffer.from(`${environmentId}/${purpose}`, 'utf8')
}

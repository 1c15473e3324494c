// Sealing secrets at rest: AES-256-GCM under a key of each value's own, bound to the environment, the purpose and the row.
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto'

/**
 * How a value is sealed. 1: under the encryption key itself, with a random nonce, bound to environment and purpose. 2: under a
 * key that is derived for the value alone, bound to its row as well.
 */
export type SealForm = 1 | 2

export interface Sealer {
  /** The id of the key that seals now, to find what is still sealed with an older one. */
  readonly keyId: Buffer
  /** `record`: the id of the row, as it is where the value is opened again. */
  seal(environmentId: string, purpose: SealPurpose, record: string, plain: string): Buffer
  open(environmentId: string, purpose: SealPurpose, record: string, sealed: Buffer): string
  /** A keyed hash by which an address is found again without being stored. */
  digest(environmentId: string, address: string): Buffer
  /** In which form it seals; it opens both. */
  form(): SealForm
  /** From now on. Nodes of a version before the second form cannot open that: the installation says which it is in. */
  sealIn(form: SealForm): void
  /** Whether values in another format count as sealed differently, and not only those under another key. */
  readonly movesForms?: true
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
  | 'message-addresses'
  | 'dashboard-session'
  | 'user-session'
  | 'oidc-state'
  | 'audit-key'
  | 'audit-stream'
  | 'webhook-endpoint'
  | 'backup'
  | 'environment-variable'

/** The sealed value names a key we do not hold, or was changed or moved. */
export class UnsealError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UnsealError'
  }
}

// Layout: 1 byte form, 4 bytes key id, then of the first form 12 bytes nonce, of the second 16 bytes salt; 16 bytes tag, the
// ciphertext.
const keyIdBytes = 4
const startBytes = 1 + keyIdBytes
const nonceBytes = 12
const saltBytes = 16
const tagBytes = 16
const cipherKeyBytes = 32

/** Seals with the first key and opens with any of them. Begins with the first form, which every version opens. */
export function createSealer(keys: readonly [Buffer, ...Buffer[]]): Sealer {
  const byId = new Map(keys.map((key) => [keyIdOf(key).toString('hex'), key]))
  const [current] = keys
  const keyId = keyIdOf(current)
  let form: SealForm = 1
  return {
    keyId,
    form: () => form,
    digest: (environmentId, address) =>
      createHmac('sha256', current).update(`posthorn address\n${environmentId}\n${address}`).digest(),
    sealIn: (wanted) => {
      form = wanted
    },
    seal(environmentId, purpose, record, plain) {
      const random = randomBytes(form === 1 ? nonceBytes : saltBytes)
      const { key, nonce, bound } = cipherOf(form, current, random, { environmentId, purpose, record })
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      cipher.setAAD(bound)
      const ciphertext = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.of(form), keyId, random, cipher.getAuthTag(), ciphertext])
    },
    open(environmentId, purpose, record, sealed) {
      const sealedIn = formOf(sealed)
      if (sealedIn === undefined) throw new UnsealError('Not a sealed value')
      const encryptionKey = byId.get(keyIdOfSealed(sealed).toString('hex'))
      if (encryptionKey === undefined) throw new UnsealError('Encrypted with a key that this node does not have')
      const tagAt = startBytes + (sealedIn === 1 ? nonceBytes : saltBytes)
      const random = sealed.subarray(startBytes, tagAt)
      const { key, nonce, bound } = cipherOf(sealedIn, encryptionKey, random, { environmentId, purpose, record })
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
      decipher.setAAD(bound)
      decipher.setAuthTag(sealed.subarray(tagAt, tagAt + tagBytes))
      try {
        return Buffer.concat([decipher.update(sealed.subarray(tagAt + tagBytes)), decipher.final()]).toString('utf8')
      } catch {
        throw new UnsealError('The sealed value was changed, or belongs to another environment, purpose or row')
      }
    },
  }
}

/** Undefined where it is no sealed value. */
export function formOf(sealed: Buffer): SealForm | undefined {
  const form = sealed[0]
  if (form !== 1 && form !== 2) return undefined
  const randomBytesOf = form === 1 ? nonceBytes : saltBytes
  return sealed.length < startBytes + randomBytesOf + tagBytes ? undefined : form
}

/** The id of the key that a value was sealed with. */
export const keyIdOfSealed = (sealed: Buffer): Buffer => sealed.subarray(1, startBytes)

interface Place {
  readonly environmentId: string
  readonly purpose: SealPurpose
  readonly record: string
}

interface CipherParts {
  readonly key: Buffer
  readonly nonce: Buffer
  /** Authenticated with the value. */
  readonly bound: Buffer
}

/**
 * HKDF-Expand (RFC 5869, one block of SHA-512): the encryption key is random, so there is nothing to extract. With 128 bits of
 * salt no two values share a key, however many there are; random nonces of 96 bits under one key would be used up.
 */
function cipherOf(form: SealForm, encryptionKey: Buffer, random: Buffer, place: Place): CipherParts {
  const scope = `${place.environmentId}/${place.purpose}`
  if (form === 1) return { key: encryptionKey, nonce: random, bound: Buffer.from(scope, 'utf8') }
  const info = Buffer.from(`posthorn sealed value\n${scope}\n`, 'utf8')
  const block = createHmac('sha512', encryptionKey).update(info).update(random).update(Buffer.of(1)).digest()
  return {
    key: block.subarray(0, cipherKeyBytes),
    nonce: block.subarray(cipherKeyBytes, cipherKeyBytes + nonceBytes),
    bound: Buffer.from(`${scope}/${place.record}`, 'utf8'),
  }
}

function keyIdOf(key: Buffer): Buffer {
  return createHash('sha256').update('posthorn key id').update(key).digest().subarray(0, keyIdBytes)
}

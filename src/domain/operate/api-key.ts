// API keys: how they are generated, and the hash that is stored.
import { hash, randomBytes } from 'node:crypto'
import type { Scope } from '../environment.ts'

export interface ApiKey {
  readonly _id: string
  readonly name: string
  /** The last characters of the key, to identify it. */
  readonly hint: string
  readonly scopes: readonly Scope[]
  /** Whether a sealed copy is stored, so that signatures made with the key can be verified. */
  readonly signing: boolean
  /** Addresses and networks that requests with it may come from; left out for any. */
  readonly allowedAddresses?: readonly string[]
  /** Tokens a second of this key alone; left out where only the environment limits it. */
  readonly ratePerSecond?: number
  /** The id of the key that it was made in place of. */
  readonly replaces?: string
  readonly createdAt: string
  /** Within some minutes; left out where it was never used. */
  readonly lastUsedAt?: string
  readonly expiresAt?: string
  readonly revokedAt?: string
}

const secretBytes = 32
const hintCharacters = 4
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export function newApiKey(): string {
  return `ph_${toBase62(randomBytes(secretBytes))}`
}

export function hashOfApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

export function hintOfApiKey(key: string): string {
  return key.slice(-hintCharacters)
}

export function toBase62(bytes: Buffer): string {
  let number = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  while (number > 0n) {
    text = `${base62[Number(number % 62n)]}${text}`
    number /= 62n
  }
  // 62^43 > 2^256: a fixed length does not reveal the number of leading zeros.
  return text.padStart(Math.ceil((bytes.length * 8) / Math.log2(62)), '0')
}

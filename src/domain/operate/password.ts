// Passwords: hashed by scrypt with a salt of their own, beside the cost at which that was done.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/** Rounds (a power of two), block size, and how often in a row. */
export interface PasswordCost {
  readonly rounds: number
  readonly blockSize: number
  readonly repeats: number
}

/** 32 MiB each: what OWASP's Password Storage Cheat Sheet recommends at this memory. */
export const passwordCost: PasswordCost = { rounds: 32_768, blockSize: 8, repeats: 3 }

export const passwordLengthMin = 12
/** Longer texts cost time to hash and make nothing safer. */
export const passwordLengthMax = 200

const saltBytes = 16
const hashBytes = 32

/** What is wrong with a password that someone wants; undefined where nothing is. */
export function passwordMistake(password: string, email: string): string | undefined {
  if (password.length < passwordLengthMin) return `must have at least ${passwordLengthMin} characters`
  if (password.length > passwordLengthMax) return `must have at most ${passwordLengthMax} characters`
  if (password.toLowerCase().includes(email.toLowerCase())) return 'must not contain the e-mail address'
  if (new Set(password).size < 5) return 'must have at least five different characters'
  return undefined
}

/** `scrypt$rounds$block size$repeats$salt$hash`, the last two in base64url. */
export async function hashPassword(password: string, cost: PasswordCost = passwordCost): Promise<string> {
  const salt = randomBytes(saltBytes)
  const hash = await derived(password, salt, cost)
  const { rounds, blockSize, repeats } = cost
  return ['scrypt', rounds, blockSize, repeats, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/** Where there is no hash, the work of the usual cost is done and the answer is no: how long it takes says nothing. */
export async function isPassword(password: string, stored: string | undefined, usual = passwordCost): Promise<boolean> {
  const { cost, salt, hash } = stored === undefined ? { ...noPassword, cost: usual } : parsed(stored)
  const found = await derived(password, salt, cost)
  return timingSafeEqual(found, hash) && stored !== undefined
}

/** Whether it was hashed at another cost than passwords are now. */
export function isOldHash(stored: string, usual = passwordCost): boolean {
  const { rounds, blockSize, repeats } = parsed(stored).cost
  return rounds !== usual.rounds || blockSize !== usual.blockSize || repeats !== usual.repeats
}

interface Parsed {
  readonly cost: PasswordCost
  readonly salt: Buffer
  readonly hash: Buffer
}

const noPassword = { salt: Buffer.alloc(saltBytes), hash: Buffer.alloc(hashBytes) }

function parsed(stored: string): Parsed {
  const [name, rounds, blockSize, repeats, salt = '', hash = ''] = stored.split('$')
  const bytes = Buffer.from(hash, 'base64url')
  if (name !== 'scrypt' || bytes.length !== hashBytes) throw new Error('A stored password has an unknown form')
  return {
    cost: { rounds: Number(rounds), blockSize: Number(blockSize), repeats: Number(repeats) },
    salt: Buffer.from(salt, 'base64url'),
    hash: bytes,
  }
}

function derived(password: string, salt: Buffer, { rounds, blockSize, repeats }: PasswordCost): Promise<Buffer> {
  // Node refuses what needs more than 32 MiB unless it is allowed to.
  const maxmem = 128 * rounds * blockSize * 2
  return new Promise((resolve, reject) => {
    // The same characters, however a keyboard composes them.
    scrypt(
      password.normalize('NFKC'),
      salt,
      hashBytes,
      { N: rounds, r: blockSize, p: repeats, maxmem },
      (error, key) => (error === null ? resolve(key) : reject(error)),
    )
  })
}

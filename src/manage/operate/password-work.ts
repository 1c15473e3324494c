// Checks and hashes passwords a few at a time: each takes a tenth of a second of a thread that lookups of host names need as well.
import type { PasswordCost } from '../../domain/operate/password.ts'
import { hashPassword, isOldHash, isPassword, passwordCost } from '../../domain/operate/password.ts'
import { Problem } from '../../domain/problem.ts'

/** Two of the four threads that Node has. */
const atOnceMax = 2
/** A second or two of waiting; beyond it a caller is better served by trying again. */
const waitingMax = 20

export interface PasswordWork {
  /** Throws a 503 where too many wait. */
  isPassword(password: string, stored: string | undefined): Promise<boolean>
  hash(password: string): Promise<string>
  isOld(stored: string): boolean
}

export function createPasswordWork(cost: PasswordCost = passwordCost): PasswordWork {
  const waiting: (() => void)[] = []
  let atOnce = 0

  async function begin(): Promise<void> {
    if (atOnce < atOnceMax) {
      atOnce += 1
      return
    }
    if (waiting.length >= waitingMax) {
      throw new Problem(503, 'Too many people sign in right now', { headers: { 'retry-after': '2' } })
    }
    // Whoever ends hands the place on.
    await new Promise<void>((resolve) => waiting.push(resolve))
  }

  function end(): void {
    const next = waiting.shift()
    if (next === undefined) atOnce -= 1
    else next()
  }

  async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    await begin()
    try {
      return await work()
    } finally {
      end()
    }
  }

  return {
    isPassword: (password, stored) => inTurn(() => isPassword(password, stored, cost)),
    hash: (password) => inTurn(() => hashPassword(password, cost)),
    isOld: (stored) => isOldHash(stored, cost),
  }
}

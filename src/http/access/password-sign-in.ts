// Signing in with a password: limited by address and by account, before the work of checking it is done.
import type { Db } from '../../db/sql.ts'
import type { PasswordCost } from '../../domain/operate/password.ts'
import { normalEmail } from '../../domain/operate/user.ts'
import { Problem } from '../../domain/problem.ts'
import type { OpenedSession } from '../../manage/operate/dashboard-sessions.ts'
import { createPasswordWork } from '../../manage/operate/password-work.ts'
import { changePassword, setPasswordByLink, signInByPassword, userOfLink } from '../../manage/operate/user-sign-in.ts'
import type { World } from '../../world/world.ts'
import { createFailedAttempts, ofAccount } from './failed-attempts.ts'

interface Credentials {
  readonly email: string
  readonly password: string
}

/** Each throws a 401 where the proof is wrong, and a 429 where it was too often. `address` is that of the client. */
export interface PasswordSignIn {
  signIn(address: string, credentials: Credentials): Promise<readonly OpenedSession[]>
  change(address: string, change: Credentials & { newPassword: string }): Promise<readonly OpenedSession[]>
  setByLink(address: string, set: { link: string; password: string }): Promise<readonly OpenedSession[]>
  /** Whose password a link sets. */
  ownerOf(address: string, link: string): Promise<{ email: string; name: string }>
}

export function createPasswordSignIn(db: Db, world: World, cost?: PasswordCost): PasswordSignIn {
  const byAddress = createFailedAttempts(world.now)
  const byAccount = createFailedAttempts(world.now, ofAccount)
  const work = createPasswordWork(cost)

  async function counted<Result>(
    address: string,
    account: string | undefined,
    attempt: () => Promise<Result>,
  ): Promise<Result> {
    byAddress.throwIfSpent(address)
    // Whether there is such an account makes no difference: it is the text that was typed.
    if (account !== undefined) byAccount.throwIfSpent(account)
    try {
      return await attempt()
    } catch (error) {
      if (error instanceof Problem && error.status === 401) {
        byAddress.count(address)
        if (account !== undefined) byAccount.count(account)
      }
      throw error
    }
  }

  return {
    signIn: (address, credentials) =>
      counted(address, normalEmail(credentials.email), () => signInByPassword(db, world, work, credentials)),
    change: (address, change) =>
      counted(address, normalEmail(change.email), () => changePassword(db, world, work, change)),
    setByLink: (address, set) => counted(address, undefined, () => setPasswordByLink(db, world, work, set)),
    ownerOf: (address, link) =>
      counted(address, undefined, async () => {
        const { email, name } = await userOfLink(db, world, link)
        return { email, name }
      }),
  }
}

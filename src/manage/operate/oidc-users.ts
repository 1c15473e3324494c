// Which users someone is whom the identity provider knows: by its subject first, then by the address that it verified.
import type { Db, Tx } from '../../db/sql.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { recordOfUser } from '../../domain/operate/audit-records.ts'
import type { UserRole } from '../../domain/operate/user.ts'
import { keyIdOfUser, nameInAudit } from '../../domain/operate/user.ts'
import { listEnvironments, lockOrganization } from '../../store/operate/installation.ts'
import type { Candidate } from '../../store/operate/users.ts'
import { findCandidatesByEmail, findCandidatesBySubject, findUser, linkSubject } from '../../store/operate/users.ts'
import type { World } from '../../world/world.ts'
import { addUser, auditUser, named } from './users.ts'

/** From where, as the audit log has it. */
export interface Caller {
  readonly address: string
  readonly requestId: string
}

export interface KnownIdentity {
  readonly issuer: string
  readonly subject: string
  readonly email: string
  readonly name: string | undefined
}

interface Terms {
  readonly defaultRole: UserRole | 'none'
  readonly caller: Caller
}

type Found = Pick<Candidate, 'id' | 'organizationId'>

/** At least one, none of them disabled; or why there is none. */
export type IdentityUsers = { readonly users: readonly Found[] } | { readonly refused: 'unknown' | 'disabled' }

export async function usersOfIdentity(
  db: Db,
  world: World,
  identity: KnownIdentity,
  { defaultRole, caller }: Terms,
): Promise<IdentityUsers> {
  return db.transaction(async (tx) => {
    const bySubject = await findCandidatesBySubject(tx, identity)
    const byEmail = await findCandidatesByEmail(tx, identity.email)
    // One that another subject is linked to belongs to someone else, who had the address before.
    const unlinked = byEmail.filter(({ hasSubject }) => !hasSubject)
    const known = [...bySubject, ...unlinked]
    const open = known.filter(({ isDisabled }) => !isDisabled)
    if (open.length > 0) {
      for (const user of open) if (!user.hasSubject) await link(tx, world, user, { identity, caller })
      return { users: open }
    }
    if (known.length > 0) return { refused: 'disabled' }
    if (defaultRole === 'none' || byEmail.length > 0) return { refused: 'unknown' }
    return { users: [await join(tx, world, identity, { role: defaultRole, caller })] }
  })
}

async function link(
  tx: Tx,
  world: World,
  { id, organizationId }: Found,
  { identity, caller }: { identity: KnownIdentity; caller: Caller },
): Promise<void> {
  const before = await findUser(tx, organizationId, id)
  if (!(await linkSubject(tx, { id, ...identity }))) return
  const after = await findUser(tx, organizationId, id)
  if (before === undefined || after === undefined) throw new Error(`The user ${id} was lost while it signed in`)
  await auditUser(tx, world, { organizationId }, authorOf(after._id, nameInAudit(after), caller), {
    ...named(after),
    action: 'change',
    before: recordOfUser(before),
    after: recordOfUser(after),
  })
}

/** A user of the first organization, which is the installation's own. */
async function join(
  tx: Tx,
  world: World,
  identity: KnownIdentity,
  { role, caller }: { role: UserRole; caller: Caller },
): Promise<Found> {
  const [first] = await listEnvironments(tx)
  if (first === undefined) throw new Error('The installation has no environment')
  await lockOrganization(tx, first)
  const { email, name = email } = identity
  const made = await addUser(tx, world, first, { email, name, role })
  await linkSubject(tx, { id: made._id, ...identity })
  const user = { ...made, signsInBy: ['oidc'] as const }
  const author = authorOf(user._id, nameInAudit(user), caller)
  await auditUser(tx, world, first, author, { ...named(user), action: 'create', after: recordOfUser(user) })
  return { id: user._id, organizationId: first.organizationId }
}

const authorOf = (id: string, keyName: string, { address, requestId }: Caller): Author => ({
  keyId: keyIdOfUser(id),
  keyName,
  address,
  requestId,
})

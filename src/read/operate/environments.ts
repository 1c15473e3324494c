// The caller's own environment, with what only it may see.

import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment, Principal } from '../../domain/environment.ts'
import { mayUse } from '../../domain/environment.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import type { SigningVersion } from '../../domain/operate/signing-keys.ts'
import { callKeyOf, signsUntil } from '../../domain/operate/signing-keys.ts'
import type { EnvironmentEntry } from '../../store/operate/environment-entries.ts'
import { findEnvironmentEntry } from '../../store/operate/environment-entries.ts'
import { findSigningKeys } from '../../store/operate/signing-versions.ts'

export interface OwnEnvironment extends EnvironmentEntry {
  /** What calls are signed with now. Only for keys that may do everything. */
  readonly signingSecret?: string
  /** All that sign, or did; the newest first. Only for keys that may do everything. */
  readonly signingSecrets?: readonly ShownSigningSecret[]
}

export interface ShownSigningSecret {
  readonly version: number
  readonly secret: string
  readonly createdAt: string
  /** Left out for the newest. */
  readonly signsUntil?: string
}

/** Every tag that a workflow has, by name. */
export async function workflowTags(db: Sql, environment: Environment): Promise<{ name: string }[]> {
  return db.rows<{ name: string }>(sql`
    select distinct tag as name from workflows w cross join unnest(w.tags) as tag
    where w.environment_id = ${environment.id} and w.deleted_at is null order by 1 limit ${tagsMax}`)
}

/** More than anyone can choose from. */
const tagsMax = 1_000

export async function ownEnvironment(db: Sql, sealer: Sealer, principal: Principal): Promise<OwnEnvironment> {
  const entry = await findEnvironmentEntry(db, principal.environment)
  if (!mayUse(principal, 'full')) return entry
  const { versions = [] } = (await findSigningKeys(db, sealer, principal.environment)) ?? {}
  const shown = versions.map((version, index) => shownSecret(version, versions[index + 1])).reverse()
  return { ...entry, signingSecret: shown[0]?.secret ?? '', signingSecrets: shown }
}

function shownSecret(version: SigningVersion, next: SigningVersion | undefined): ShownSigningSecret {
  const until = signsUntil(next)
  return {
    version: version.version,
    secret: callKeyOf(version).text,
    createdAt: version.createdAt.toISOString(),
    ...(until === undefined ? {} : { signsUntil: until.toISOString() }),
  }
}

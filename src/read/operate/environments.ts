// The environments of an organization, and the caller's own with what only it may see.

import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Caller, Environment } from '../../domain/environment.ts'
import { mayUse } from '../../domain/environment.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import type { SigningVersion } from '../../domain/operate/signing-keys.ts'
import { callKeyOf, signsUntil } from '../../domain/operate/signing-keys.ts'
import { findSigningKeys } from '../../store/operate/signing-versions.ts'

export interface EnvironmentConfigurations {
  /** Whether everything that would go out is kept in the outbox instead. */
  readonly capture: boolean
}

export interface EnvironmentEntry {
  readonly _id: string
  readonly name: string
  readonly identifier: string
  readonly _organizationId: string
  readonly _parentId?: string
  readonly configurations: EnvironmentConfigurations
  readonly createdAt: string
}

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

interface EnvironmentRow {
  readonly id: string
  readonly name: string
  readonly identifier: string
  readonly organization_id: string
  readonly parent_id: string | null
  readonly captures: boolean
  readonly created_at: Date
}

/** Many times what anyone has: environments are stages such as Development and Production. */
const environmentsListedMax = 100
const columns = sql`id, name, identifier, organization_id, parent_id, captures, created_at`

/** Oldest first: Development, then Production. */
export async function environmentsOfOrganization(db: Sql, environment: Environment): Promise<EnvironmentEntry[]> {
  const rows = await db.rows<EnvironmentRow>(sql`
    select ${columns} from environments where organization_id = ${environment.organizationId}
    order by id limit ${environmentsListedMax}`)
  return rows.map(entryOf)
}

export async function ownEnvironment(db: Sql, sealer: Sealer, caller: Caller): Promise<OwnEnvironment> {
  const { id } = caller.environment
  const row = await db.row<EnvironmentRow>(sql`select ${columns} from environments where id = ${id}`)
  if (row === undefined) throw new Error(`The environment ${id} of a valid key is missing`)
  if (!mayUse(caller, 'full')) return entryOf(row)
  const { versions = [] } = (await findSigningKeys(db, sealer, caller.environment)) ?? {}
  const shown = versions.map((version, index) => shownSecret(version, versions[index + 1])).reverse()
  return { ...entryOf(row), signingSecret: shown[0]?.secret ?? '', signingSecrets: shown }
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

function entryOf(row: EnvironmentRow): EnvironmentEntry {
  return {
    _id: row.id,
    name: row.name,
    identifier: row.identifier,
    _organizationId: row.organization_id,
    ...(row.parent_id === null ? {} : { _parentId: row.parent_id }),
    configurations: { capture: row.captures },
    createdAt: row.created_at.toISOString(),
  }
}

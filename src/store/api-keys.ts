// The api_keys table: hashes of the keys that open an environment.

import type { Sql, Tx } from '../db/sql.ts'
import { prepared, sql } from '../db/sql.ts'
import type { ApiKey } from '../domain/api-key.ts'
import type { Caller, Environment, Scope } from '../domain/environment.ts'

export interface NewApiKey {
  readonly id: string
  readonly hash: Buffer
  readonly name: string
  readonly hint: string
  readonly scopes: readonly Scope[]
  readonly configured: boolean
  readonly expiresAt: Date | null
  readonly now: Date
}

interface ApiKeyRow {
  readonly id: string
  readonly name: string
  readonly hint: string
  readonly scopes: Scope[]
  readonly created_at: Date
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
}

const columns = sql`id, name, hint, scopes, created_at, expires_at, revoked_at`

export async function insertApiKey(tx: Tx, environment: Environment, key: NewApiKey): Promise<ApiKey | undefined> {
  const row = await tx.row<ApiKeyRow>(sql`
    insert into api_keys (environment_id, id, hash, name, hint, scopes, configured, created_at, expires_at)
    values (${environment.id}, ${key.id}, ${key.hash}, ${key.name}, ${key.hint}, ${key.scopes}, ${key.configured},
            ${key.now}, ${key.expiresAt})
    on conflict (hash) do nothing returning ${columns}`)
  return row && apiKeyOf(row)
}

/** Leaves `hash` as the only key of the environment that was set by configuration. */
export async function revokeConfiguredKeysBut(
  tx: Tx,
  environment: Environment,
  hash: Buffer,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update api_keys set revoked_at = ${now}
    where environment_id = ${environment.id} and configured and revoked_at is null and hash <> ${hash}`)
}

/** A key that the configuration names again is good again. Not one that was revoked by hand: that was meant. */
export async function reinstateConfiguredKey(tx: Tx, environment: Environment, hash: Buffer): Promise<boolean> {
  const count = await tx.run(sql`
    update api_keys set revoked_at = null, expires_at = null, scopes = '{full}', configured = true
    where environment_id = ${environment.id} and hash = ${hash} and (revoked_at is null or configured)`)
  return count > 0
}

/** One a start; nobody has as many. */
const configuredKeysMax = 1_000

/** Those that were set by configuration, and the one of this hash. */
export async function listConfiguredKeys(tx: Tx, environment: Environment, hash: Buffer): Promise<ApiKey[]> {
  const rows = await tx.rows<ApiKeyRow>(sql`
    select ${columns} from api_keys where environment_id = ${environment.id} and (configured or hash = ${hash})
    order by id desc limit ${configuredKeysMax}`)
  return rows.map(apiKeyOf)
}

/** The key as it is now; undefined when there is none to revoke. */
export async function revokeApiKey(
  tx: Tx,
  environment: Environment,
  id: string,
  now: Date,
): Promise<ApiKey | undefined> {
  const row = await tx.row<ApiKeyRow>(sql`
    update api_keys set revoked_at = ${now}, configured = false
    where environment_id = ${environment.id} and id = ${id} and revoked_at is null
    returning ${columns}`)
  return row && apiKeyOf(row)
}

export async function listApiKeys(
  db: Sql,
  environment: Environment,
  page: { offset: number; limit: number },
): Promise<ApiKey[]> {
  const rows = await db.rows<ApiKeyRow>(sql`
    select ${columns} from api_keys where environment_id = ${environment.id}
    order by id desc offset ${page.offset} limit ${page.limit}`)
  return rows.map(apiKeyOf)
}

/** Whether any key but this one can still do everything here, so that nobody locks the environment for good. */
export async function hasOtherFullKey(tx: Tx, environment: Environment, id: string, now: Date): Promise<boolean> {
  const row = await tx.row<{ id: string }>(sql`
    select id from api_keys
    where environment_id = ${environment.id} and id <> ${id} and 'full' = any(scopes)
      and revoked_at is null and (expires_at is null or expires_at > ${now})
    limit 1 for share`)
  return row !== undefined
}

export type KnownCaller = Caller & { readonly expiresAt: Date | null }

/** Who keys speak for, by their hashes in base64. The one query that cannot start with its environment: the key names it. */
export async function findCallers(db: Sql, hashes: readonly Buffer[]): Promise<Map<string, KnownCaller>> {
  const rows = await db.rows<{
    hash: Buffer
    keyId: string
    keyName: string
    scopes: Scope[]
    expiresAt: Date | null
    environmentId: string
    organizationId: string
    name: string
  }>(
    prepared(
      'api-keys-callers',
      sql`select k.hash, k.id as "keyId", k.name as "keyName", k.scopes, k.expires_at as "expiresAt",
                 e.id as "environmentId", e.organization_id as "organizationId", e.name
          from api_keys k join environments e on e.id = k.environment_id
          where k.hash = any(${hashes}::bytea[]) and k.revoked_at is null`,
    ),
  )
  return new Map(
    rows.map(({ hash, environmentId, organizationId, name, ...key }) => [
      hash.toString('base64'),
      { environment: { id: environmentId, organizationId, name }, ...key },
    ]),
  )
}

function apiKeyOf(row: ApiKeyRow): ApiKey {
  return {
    _id: row.id,
    name: row.name,
    hint: row.hint,
    scopes: row.scopes,
    createdAt: row.created_at.toISOString(),
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at.toISOString() }),
    ...(row.revoked_at === null ? {} : { revokedAt: row.revoked_at.toISOString() }),
  }
}

// The api_keys table: hashes of the keys that open an environment, and sealed copies of those that may sign.

import type { Sql, Tx } from '../../db/sql.ts'
import { prepared, sql } from '../../db/sql.ts'
import type { Environment, Principal, Scope } from '../../domain/environment.ts'
import { nilId } from '../../domain/nil-id.ts'
import type { ApiKey } from '../../domain/operate/api-key.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import { isSealedOtherwise, resealed } from './sealed-columns.ts'

export interface NewApiKey {
  readonly id: string
  readonly hash: Buffer
  /** The key itself, sealed; null where it may not sign. */
  readonly sealedKey: Buffer | null
  readonly name: string
  readonly hint: string
  readonly scopes: readonly Scope[]
  readonly configured: boolean
  readonly expiresAt: Date | null
  readonly limits?: KeyLimits
  /** The id of the key that it is made in place of. */
  readonly replaces?: string
  readonly now: Date
}

/** From where and how often a key may be used; null for no limit of its own. */
export interface KeyLimits {
  readonly allowedAddresses: readonly string[] | null
  readonly ratePerSecond: number | null
}

interface ApiKeyRow {
  readonly id: string
  readonly name: string
  readonly hint: string
  readonly scopes: Scope[]
  readonly signing: boolean
  readonly allowed_addresses: string[] | null
  readonly rate_per_second: number | null
  readonly replaces: string | null
  readonly created_at: Date
  readonly last_used_at: Date | null
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
}

const columns = sql`id, name, hint, scopes, sealed_key is not null as signing, allowed_addresses, rate_per_second,
  replaces, created_at, last_used_at, expires_at, revoked_at`

export async function insertApiKey(tx: Tx, environment: Environment, key: NewApiKey): Promise<ApiKey | undefined> {
  const row = await tx.row<ApiKeyRow>(sql`
    insert into api_keys (environment_id, id, hash, sealed_key, name, hint, scopes, configured, created_at, expires_at,
                          allowed_addresses, rate_per_second, replaces)
    values (${environment.id}, ${key.id}, ${key.hash}, ${key.sealedKey}, ${key.name}, ${key.hint}, ${key.scopes},
            ${key.configured}, ${key.now}, ${key.expiresAt}, ${key.limits?.allowedAddresses ?? null}::text[],
            ${key.limits?.ratePerSecond ?? null}, ${key.replaces ?? null})
    on conflict (hash) do nothing returning ${columns}`)
  return row && apiKeyOf(row)
}

/** Leaves those with these hashes as the only keys of the environment that were set by configuration. */
export async function revokeConfiguredKeysBut(
  tx: Tx,
  environment: Environment,
  hashes: readonly Buffer[],
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update api_keys set revoked_at = ${now}, sealed_key = null
    where environment_id = ${environment.id} and configured and revoked_at is null and hash <> all(${hashes}::bytea[])`)
}

/** A key that the configuration names again is valid again. Not one that was revoked manually: that was intended. */
export async function reinstateConfiguredKey(
  tx: Tx,
  environment: Environment,
  { hash, sealedKey }: { hash: Buffer; sealedKey: Buffer },
): Promise<boolean> {
  const count = await tx.run(sql`
    update api_keys set revoked_at = null, expires_at = null, scopes = '{full}', configured = true,
      sealed_key = coalesce(sealed_key, ${sealedKey})
    where environment_id = ${environment.id} and hash = ${hash} and (revoked_at is null or configured)`)
  return count > 0
}

/** One per start; no one has as many. */
const configuredKeysMax = 1_000

/** Those that were set by configuration, and those of these hashes. */
export async function listConfiguredKeys(
  tx: Tx,
  environment: Environment,
  hashes: readonly Buffer[],
): Promise<ApiKey[]> {
  const rows = await tx.rows<ApiKeyRow>(sql`
    select ${columns} from api_keys
    where environment_id = ${environment.id} and (configured or hash = any(${hashes}::bytea[]))
    order by id desc limit ${configuredKeysMax}`)
  return rows.map(apiKeyOf)
}

/** The key as it is now, without its copy; undefined when there is none to revoke. */
export async function revokeApiKey(
  tx: Tx,
  environment: Environment,
  id: string,
  now: Date,
): Promise<ApiKey | undefined> {
  const row = await tx.row<ApiKeyRow>(sql`
    update api_keys set revoked_at = ${now}, configured = false, sealed_key = null
    where environment_id = ${environment.id} and id = ${id} and revoked_at is null
    returning ${columns}`)
  return row && apiKeyOf(row)
}

/** The key, held until the transaction ends; undefined where there is none, or it is revoked. */
export async function lockApiKey(
  tx: Tx,
  environment: Environment,
  id: string,
): Promise<(ApiKey & { readonly configured: boolean }) | undefined> {
  const row = await tx.row<ApiKeyRow & { configured: boolean }>(sql`
    select ${columns}, configured from api_keys
    where environment_id = ${environment.id} and id = ${id} and revoked_at is null for no key update`)
  return row && { ...apiKeyOf(row), configured: row.configured }
}

/** The id of the key that was made in place of this one and is still good. */
export async function findReplacement(tx: Tx, environment: Environment, id: string): Promise<string | undefined> {
  const row = await tx.row<{ id: string }>(sql`
    select id from api_keys where environment_id = ${environment.id} and replaces = ${id} and revoked_at is null limit 1`)
  return row?.id
}

/** The key is held. It stops working then, unless it does so before. */
export async function endApiKey(tx: Tx, environment: Environment, id: string, at: Date): Promise<ApiKey | undefined> {
  const row = await tx.row<ApiKeyRow>(sql`
    update api_keys set expires_at = least(expires_at, ${at}::timestamptz)
    where environment_id = ${environment.id} and id = ${id} returning ${columns}`)
  return row && apiKeyOf(row)
}

/** The key is held. */
export async function updateApiKey(
  tx: Tx,
  environment: Environment,
  key: KeyLimits & { readonly id: string; readonly name: string },
): Promise<ApiKey | undefined> {
  const row = await tx.row<ApiKeyRow>(sql`
    update api_keys set name = ${key.name}, allowed_addresses = ${key.allowedAddresses}::text[],
      rate_per_second = ${key.ratePerSecond}
    where environment_id = ${environment.id} and id = ${key.id} returning ${columns}`)
  return row && apiKeyOf(row)
}

/** Keys that are being changed are passed over: the next look-up finds them again. */
export async function touchApiKeys(db: Sql, hashes: readonly Buffer[], now: Date): Promise<void> {
  await db.run(sql`
    update api_keys k set last_used_at = ${now}
    from (select hash from api_keys where hash = any(${hashes}::bytea[]) for no key update skip locked) as used
    where k.hash = used.hash`)
}

/** All keys of an environment that is deleted. */
export async function revokeAllApiKeys(tx: Tx, environment: Environment, now: Date): Promise<void> {
  await tx.run(sql`
    update api_keys set revoked_at = ${now}, configured = false, sealed_key = null
    where environment_id = ${environment.id} and revoked_at is null`)
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

/**
 * Whether any other key can still do everything here, so that the environment cannot be locked permanently. One that was rotated ends
 * soon: its replacement counts, not itself.
 */
export async function hasOtherFullKey(tx: Tx, environment: Environment, id: string, now: Date): Promise<boolean> {
  const row = await tx.row<{ id: string }>(sql`
    select k.id from api_keys k
    where k.environment_id = ${environment.id} and k.id <> ${id} and 'full' = any(k.scopes)
      and k.revoked_at is null and (k.expires_at is null or k.expires_at > ${now})
      and not exists (select 1 from api_keys r where r.environment_id = k.environment_id and r.replaces = k.id)
    limit 1 for share of k`)
  return row !== undefined
}

/** More than anyone signs with; each is tried. */
const signingKeysMax = 100

/** A copy is bound to the hash of its key, which is there before the row is. */
export function sealApiKey(
  sealer: Sealer,
  environment: Environment,
  { key, hash }: { key: string; hash: Buffer },
): Buffer {
  return sealer.seal(environment.id, 'api-key', hash.toString('hex'), key)
}

/** The keys in clear that may sign for the environment now, newest first. */
export async function findSigningKeys(db: Sql, sealer: Sealer, environment: Environment, now: Date): Promise<string[]> {
  const rows = await db.rows<{ hash: Buffer; sealed: Buffer }>(sql`
    select hash, sealed_key as sealed from api_keys
    where environment_id = ${environment.id} and sealed_key is not null
      and revoked_at is null and (expires_at is null or expires_at > ${now})
    order by id desc limit ${signingKeysMax}`)
  return rows.map(({ hash, sealed }) => sealer.open(environment.id, 'api-key', hash.toString('hex'), sealed))
}

/** Whether the environment has a key that no hash can be checked with. */
export async function hasKeysWithoutCopy(db: Sql, environment: Environment, now: Date): Promise<boolean> {
  const row = await db.row(sql`
    select 1 from api_keys
    where environment_id = ${environment.id} and sealed_key is null
      and revoked_at is null and (expires_at is null or expires_at > ${now}) limit 1`)
  return row !== undefined
}

/** Moves the next batch of copies to the current encryption key. */
export async function resealApiKeys(
  tx: Tx,
  sealer: Sealer,
  environment: Environment,
  after: string | undefined,
  limit: number,
): Promise<{ count: number; last: string | undefined }> {
  const rows = await tx.rows<{ id: string; hash: Buffer; sealed: Buffer }>(sql`
    select id, hash, sealed_key as sealed from api_keys
    where environment_id = ${environment.id} and id > ${after ?? nilId}
      and ${isSealedOtherwise(sql`sealed_key`, sealer)}
    order by id limit ${limit} for no key update`)
  const sealed = rows.map((row) =>
    resealed(sealer, environment, { purpose: 'api-key', record: row.hash.toString('hex') }, row.sealed),
  )
  await tx.run(sql`
    update api_keys k set sealed_key = again.sealed
    from unnest(${rows.map((row) => row.id)}::uuid[], ${sealed}::bytea[]) as again (id, sealed)
    where k.environment_id = ${environment.id} and k.id = again.id`)
  return { count: rows.length, last: rows.at(-1)?.id }
}

export type KnownPrincipal = Principal & {
  readonly expiresAt: Date | null
  readonly lastUsedAt: Date | null
  readonly allowedAddresses: readonly string[] | null
}

/** Who keys speak for, by their hashes in base64. The one query that cannot start with its environment: the key names it. */
export async function findPrincipals(db: Sql, hashes: readonly Buffer[]): Promise<Map<string, KnownPrincipal>> {
  const rows = await db.rows<{
    hash: Buffer
    keyId: string
    keyName: string
    scopes: Scope[]
    expiresAt: Date | null
    lastUsedAt: Date | null
    allowedAddresses: string[] | null
    ratePerSecond: number | null
    environmentId: string
    organizationId: string
    name: string
  }>(
    prepared(
      'api-keys-principals',
      sql`select k.hash, k.id as "keyId", k.name as "keyName", k.scopes, k.expires_at as "expiresAt",
                 k.last_used_at as "lastUsedAt", k.allowed_addresses as "allowedAddresses",
                 k.rate_per_second as "ratePerSecond", e.id as "environmentId", e.organization_id as "organizationId", e.name
          from api_keys k join environments e on e.id = k.environment_id
          where k.hash = any(${hashes}::bytea[]) and k.revoked_at is null and e.deleted_at is null`,
    ),
  )
  return new Map(
    rows.map(({ hash, environmentId, organizationId, name, ratePerSecond, ...key }) => [
      hash.toString('base64'),
      {
        environment: { id: environmentId, organizationId, name },
        ...key,
        ...(ratePerSecond === null ? {} : { ratePerSecond }),
      },
    ]),
  )
}

function apiKeyOf(row: ApiKeyRow): ApiKey {
  return {
    _id: row.id,
    name: row.name,
    hint: row.hint,
    scopes: row.scopes,
    signing: row.signing,
    ...(row.allowed_addresses === null ? {} : { allowedAddresses: row.allowed_addresses }),
    ...(row.rate_per_second === null ? {} : { ratePerSecond: row.rate_per_second }),
    ...(row.replaces === null ? {} : { replaces: row.replaces }),
    createdAt: row.created_at.toISOString(),
    ...(row.last_used_at === null ? {} : { lastUsedAt: row.last_used_at.toISOString() }),
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at.toISOString() }),
    ...(row.revoked_at === null ? {} : { revokedAt: row.revoked_at.toISOString() }),
  }
}

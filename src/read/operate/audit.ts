// The audit log: a page of it, and whether its chain is whole.
import type { Sql, Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { AuditAction, AuditEntry, AuditHead, AuditKey, Misfit, ResourceKind } from '../../domain/operate/audit.ts'
import { emptyLog, misfitOf } from '../../domain/operate/audit.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import { badRequest, invalidField } from '../../domain/problem.ts'
import { optionalTimestamp } from '../../domain/time/timestamp-parameter.ts'
import { Turn } from '../../domain/turn.ts'
import { findAuditKey } from '../../store/operate/audit-key.ts'
import type { AuditRow } from '../../store/operate/audit-log.ts'
import { auditColumns, entryOf, findAuditEntry, listKeyedEntries } from '../../store/operate/audit-log.ts'
import type { CursorPage, CursorQuery } from '../page/keyset-page.ts'
import { keysetPage } from '../page/keyset-page.ts'

export interface AuditQuery extends Omit<CursorQuery, 'orderBy' | 'includeCursor'> {
  readonly resourceKind?: ResourceKind
  readonly resourceId?: string
  readonly action?: AuditAction
  readonly keyId?: string
  /** From this time on, up to but not including that one. */
  readonly from?: string
  readonly to?: string
}

export async function auditPage(db: Sql, environment: Environment, query: AuditQuery): Promise<CursorPage<AuditEntry>> {
  const page = await keysetPage<AuditRow>(
    db,
    {
      columns: auditColumns,
      weight: sql`coalesce(length(before::text), 0) + coalesce(length(after::text), 0)`,
      from: sql`from audit_log`,
      where: [sql`environment_id = ${environment.id}`, ...filtersOf(query)],
      id: sql`seq`,
      idCast: 'bigint',
      orders: { at: { column: sql`at`, cast: 'timestamptz' } },
      cursorOf: (row) => ({ value: row.at.toISOString(), id: String(row.seq) }),
    },
    query,
  )
  return { ...page, data: page.data.map(entryOf) }
}

function filtersOf({ resourceKind, resourceId, action, keyId, from, to }: AuditQuery): Statement[] {
  const [first, end] = [optionalTimestamp('from', from), optionalTimestamp('to', to)]
  if (first !== undefined && end !== undefined && first >= end) {
    throw invalidField('to', 'to must be after from', to)
  }
  return [
    ...(resourceKind === undefined ? [] : [sql`resource_kind = ${resourceKind}`]),
    ...(resourceId === undefined ? [] : [sql`resource_id = ${resourceId}`]),
    ...(action === undefined ? [] : [sql`action = ${action}`]),
    ...(keyId === undefined ? [] : [sql`key_id = ${keyId}`]),
    ...(first === undefined ? [] : [sql`at >= ${first}::timestamptz`]),
    ...(end === undefined ? [] : [sql`at < ${end}::timestamptz`]),
  ]
}

/** Entries read at once: each may be a quarter of a megabyte. */
const entriesPerPage = 100
/** Entries one call looks at: some tens of milliseconds of hashing. */
export const entriesPerVerificationMax = 2_000

export interface Verification {
  /** Whether all entries checked so far are valid. */
  readonly ok: boolean
  /** Whether the end of the log was reached. */
  readonly complete: boolean
  readonly checked: number
  /** The last valid entry: stored elsewhere, it later shows whether the log was cut or rewritten. */
  readonly head: AuditHead | null
  /** For the next call, where the end was not reached. */
  readonly next: string | null
  /** The first entry that does not fit. */
  readonly broken: { readonly seq: number; readonly reason: Misfit | 'pin' } | null
  /** The first entry whose keyed hash was checked, or would be; null where the log has no key. */
  readonly keyedFrom: number | null
}

/** Walks the chain from its beginning, or from where an earlier call ended. `pin` is a stored head: `seq:hash`. */
export async function verifyAudit(
  db: Sql,
  sealer: Sealer,
  environment: Environment,
  asked: { after?: string; pin?: string; limit?: number },
): Promise<Verification> {
  const key = await findAuditKey(db, sealer, environment)
  return { ...(await walked(db, environment, key, asked)), keyedFrom: key?.fromSeq ?? null }
}

type Walked = Omit<Verification, 'keyedFrom'>

async function walked(
  db: Sql,
  environment: Environment,
  key: AuditKey | undefined,
  { after, pin, limit = entriesPerVerificationMax }: { after?: string; pin?: string; limit?: number },
): Promise<Walked> {
  const begin = after === undefined ? emptyLog : headOfText(after, () => badRequest('The cursor is not valid'))
  const pinned = pin === undefined ? undefined : headOfText(pin, () => notAPin(pin))
  if (pinned !== undefined && (await lossOf(db, environment, pinned)) !== undefined) {
    return brokenAt(emptyLog, 0, { seq: pinned.seq, reason: 'pin' })
  }
  let head = begin
  let checked = 0
  while (checked < limit) {
    const page = { afterSeq: head.seq, limit: Math.min(entriesPerPage, limit - checked) }
    const entries = await listKeyedEntries(db, environment, page)
    const turn = new Turn()
    for (const entry of entries) {
      // Each is hashed as a whole, with what it holds of both sides of a change.
      if (turn.isOver()) await turn.next()
      const misfit = misfitOf(environment.id, head, entry, key)
      if (misfit !== undefined) {
        const seq = misfit === 'missing' ? head.seq + 1 : entry.seq
        return brokenAt(head, checked, { seq, reason: misfit })
      }
      head = { seq: entry.seq, hash: entry.hash }
      checked += 1
    }
    // If nothing follows the last entry of the previous call, only that entry itself shows whether it is still the end.
    const lost = checked === 0 && head.seq > 0 ? await lossOf(db, environment, head) : undefined
    if (lost !== undefined) return brokenAt(emptyLog, 0, { seq: head.seq, reason: lost })
    if (entries.length < page.limit) return { ...reached(head, checked), complete: true, next: null }
  }
  return { ...reached(head, checked), complete: false, next: `${head.seq}:${head.hash}` }
}

const reached = (head: AuditHead, checked: number) =>
  ({ ok: true, checked, head: shownHead(head), broken: null }) as const

const shownHead = ({ seq, hash }: AuditHead): AuditHead | null => (seq === 0 ? null : { seq, hash })

function brokenAt(head: AuditHead, checked: number, broken: NonNullable<Verification['broken']>): Walked {
  return { ok: false, complete: false, checked, head: shownHead(head), next: null, broken }
}

/** What became of an entry that was known: undefined when it is still there. */
async function lossOf(db: Sql, environment: Environment, head: AuditHead): Promise<'missing' | 'hash' | undefined> {
  const entry = await findAuditEntry(db, environment, head.seq)
  if (entry === undefined) return 'missing'
  return entry.hash === head.hash ? undefined : 'hash'
}

const notAPin = (pin: string) =>
  invalidField('pin', 'pin must be the number and the hash of an entry, as `seq:hash`', pin)

function headOfText(text: string, problem: () => Error): AuditHead {
  const [, seq, hash] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text) ?? []
  if (seq === undefined || hash === undefined) throw problem()
  return { seq: Number(seq), hash }
}

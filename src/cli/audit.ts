// posthorn audit: shows the audit log of an environment, exports it, and checks that it is whole.

import type { Environment } from '../domain/environment.ts'
import type { AuditAction, AuditEntry, ResourceKind } from '../domain/operate/audit.ts'
import { auditActions, resourceKinds } from '../domain/operate/audit.ts'
import { conflict } from '../domain/problem.ts'
import type { Store } from '../main/store.ts'
import type { AuditQuery, Verification } from '../read/operate/audit.ts'
import { auditPage, verifyAudit } from '../read/operate/audit.ts'
import { listAuditEntries } from '../store/operate/audit-log.ts'
import type { Command, Terminal } from './command.ts'
import { UsageError } from './command.ts'
import { parsed } from './terminal/arguments.ts'
import { visible } from './terminal/visible-text.ts'
import { environmentNamed, withStore } from './with-store.ts'

const entriesListed = 20
/** As many as the API gives at once. */
const entriesListedMax = 100

export const auditCommand: Command = {
  name: 'audit',
  usage: [
    'audit list [--environment Development] [--kind KIND] [--resource ID] [--action ACTION] [--key KEY-ID] [--limit 20] [--json]',
    'audit verify [--environment Development] [--pin SEQ:HASH] [--json]',
    'audit export [--environment Development] [--after SEQ]',
  ],
  run: async (terminal, args) => {
    const { values, positionals } = readArguments(args)
    const [action, ...more] = positionals
    if ((action !== 'list' && action !== 'verify' && action !== 'export') || more.length > 0) {
      throw new UsageError(`Usage:\n${auditCommand.usage.map((line) => `  posthorn ${line}`).join('\n')}`)
    }
    const query = queryOf(values)
    const afterSeq = seqOf(values.after)
    await withStore(terminal, async (store) => {
      const environment = await environmentNamed(store, values.environment)
      if (action === 'list') await list(terminal, store, environment, query, values.json)
      else if (action === 'export') await exportAll(terminal, store, environment, afterSeq)
      else await verify(terminal, store, environment, values)
    })
  },
}

function readArguments(args: readonly string[]) {
  return parsed({
    args: [...args],
    allowPositionals: true,
    options: {
      environment: { type: 'string', default: 'Development' },
      kind: { type: 'string' },
      resource: { type: 'string' },
      action: { type: 'string' },
      key: { type: 'string' },
      limit: { type: 'string', default: String(entriesListed) },
      pin: { type: 'string' },
      after: { type: 'string', default: '0' },
      json: { type: 'boolean', default: false },
    },
  })
}

interface Values {
  readonly kind?: string
  readonly resource?: string
  readonly action?: string
  readonly key?: string
  readonly limit: string
}

function queryOf({ kind, resource, action, key, limit }: Values): AuditQuery {
  const count = /^\d{1,3}$/.test(limit) ? Number(limit) : 0
  if (count < 1 || count > entriesListedMax) {
    throw new UsageError(`--limit must be a number from 1 to ${entriesListedMax}, not "${limit}"`)
  }
  if (kind !== undefined) oneOf('--kind', resourceKinds, kind)
  if (action !== undefined) oneOf('--action', auditActions, action)
  return {
    limit: count,
    ...(kind === undefined ? {} : { resourceKind: kind as ResourceKind }),
    ...(resource === undefined ? {} : { resourceId: resource }),
    ...(action === undefined ? {} : { action: action as AuditAction }),
    ...(key === undefined ? {} : { keyId: key }),
  }
}

function oneOf(option: string, known: readonly string[], given: string): void {
  if (!known.includes(given)) throw new UsageError(`${option} must be one of ${known.join(', ')}, not "${given}"`)
}

/** As JSON: one entry a line, newest first. */
async function list(
  { print }: Terminal,
  { db }: Store,
  environment: Environment,
  query: AuditQuery,
  json: boolean,
): Promise<void> {
  const { data } = await auditPage(db, environment, query)
  for (const entry of data) print(json ? JSON.stringify(entry) : lineOf(entry))
  if (data.length === 0 && !json) print('No matching entries.')
}

function lineOf(entry: AuditEntry): string {
  const { seq, at, action, resourceKind, resourceName, keyName, keyId, address } = entry
  const members = [...new Set([...Object.keys(entry.before ?? {}), ...Object.keys(entry.after ?? {})])]
  const what = action === 'change' ? `: ${members.join(', ')}` : ''
  const who = `${keyName} (${keyId}${address === '' ? '' : `, ${address}`})`
  return visible(`${seq}  ${at}  ${action} ${resourceKind} ${resourceName}${what}  by ${who}`)
}

function seqOf(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--after must be the seq of an entry, not "${text}"`)
  return Number(text)
}

/** Entries that are read at once. */
const entriesPerPage = 100

/** One entry a line, in the order of the chain. `--after` the last one that is known goes on where an export ended. */
async function exportAll(
  { print, note }: Terminal,
  { db }: Store,
  environment: Environment,
  after: number,
): Promise<void> {
  let count = 0
  for (let afterSeq = after; ; ) {
    const entries = await listAuditEntries(db, environment, { afterSeq, limit: entriesPerPage })
    for (const entry of entries) print(JSON.stringify({ environmentId: environment.id, ...entry }))
    count += entries.length
    const last = entries.at(-1)
    if (last === undefined || entries.length < entriesPerPage) break
    afterSeq = last.seq
  }
  note(`${count} entries of ${environment.name}`)
}

const reasons: Readonly<Record<NonNullable<Verification['broken']>['reason'], string>> = {
  missing: 'it is missing',
  'previous-hash': 'it does not follow the previous entry',
  hash: 'it was changed',
  mac: 'it was written without the audit key',
  pin: 'it is not the pinned entry',
}

/** The whole log, a page at a time. Fails when something does not fit, so that a script sees it. */
async function verify(
  { print }: Terminal,
  { db, world }: Store,
  environment: Environment,
  { pin, json }: { pin?: string; json: boolean },
): Promise<void> {
  let result = await verifyAudit(db, world.sealer, environment, pin === undefined ? {} : { pin })
  let { checked } = result
  while (result.next !== null) {
    result = await verifyAudit(db, world.sealer, environment, { after: result.next })
    checked += result.checked
  }
  const { ok, head, broken, keyedFrom } = result
  if (json) print(JSON.stringify({ ok, checked, head, broken, keyedFrom }))
  else if (head === null && ok) print('The audit log is empty.')
  else if (ok) print(`All ${checked} entries are valid. The head to pin is ${head?.seq}:${head?.hash}`)
  if (broken !== null) {
    throw conflict(`The audit log of ${environment.name} is broken at entry ${broken.seq}: ${reasons[broken.reason]}`)
  }
}

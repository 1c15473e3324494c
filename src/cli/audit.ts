// posthorn audit: shows the audit log of an environment, exports it, and checks that it is whole.
import type { AuditEntry } from '../domain/operate/audit.ts'
import { auditActions, resourceKinds } from '../domain/operate/audit.ts'
import type { Verification } from '../read/operate/audit.ts'
import type { ApiClient, Query } from './api-client.ts'
import { clientFor } from './api-client.ts'
import type { Command, Terminal } from './command.ts'
import { CommandFailed, UsageError } from './command.ts'
import { countOf, oneOf, readOptions, serviceUsage, wrongCall } from './terminal/arguments.ts'
import { visible } from './terminal/visible-text.ts'

const entriesListed = 20
/** As many as the API gives at once. */
const entriesPerPage = 100

export const auditCommand: Command = {
  name: 'audit',
  about:
    'Shows who changed what, exports the whole log as JSON lines, and verifies that no entry was changed or removed. ' +
    'Needs a key with the scope full.',
  examples: [
    'posthorn audit list --kind workflow --limit 5',
    'posthorn audit export > audit.jsonl',
    'posthorn audit verify --pin 17:9f86d081…      # fails unless entry 17 is still the one you stored',
  ],
  usage: [
    `audit list [--kind KIND] [--resource ID] [--action ACTION] [--key-id KEY-ID] [--limit 20] ${serviceUsage}`,
    `audit verify [--pin SEQ:HASH] ${serviceUsage}`,
    `audit export [--after SEQ] ${serviceUsage}`,
  ],
  run: async (terminal, args) => {
    const { values, positionals } = readOptions(auditCommand, args, {
      kind: { type: 'string' },
      resource: { type: 'string' },
      action: { type: 'string' },
      'key-id': { type: 'string' },
      limit: { type: 'string' },
      pin: { type: 'string' },
      after: { type: 'string' },
    })
    const [action, ...more] = positionals
    if ((action !== 'list' && action !== 'verify' && action !== 'export') || more.length > 0) {
      throw wrongCall(auditCommand)
    }
    const query = {
      resourceKind: oneOf('--kind', values.kind, resourceKinds),
      resourceId: values.resource,
      action: oneOf('--action', values.action, auditActions),
      keyId: values['key-id'],
      limit: countOf('--limit', values.limit, entriesPerPage) ?? entriesListed,
    }
    const after = seqOf(values.after)
    const client = await clientFor(terminal, values)
    if (action === 'list') await list(terminal, client, query, values.json)
    else if (action === 'export') await exportAll(terminal, client, after)
    else await verify(terminal, client, values)
  },
}

interface Page {
  readonly data: readonly AuditEntry[]
  readonly next: string | null
}

/** As JSON: one entry a line, newest first. */
async function list({ print }: Terminal, client: ApiClient, query: Query, json: boolean): Promise<void> {
  const { body } = await client.call<Page>('GET', '/v1/audit', { query })
  for (const entry of body.data) print(json ? JSON.stringify(entry) : lineOf(entry))
  if (body.data.length === 0 && !json) print('No matching entries.')
}

function lineOf(entry: AuditEntry): string {
  const { seq, at, action, resourceKind, resourceName, keyName, keyId, address } = entry
  const members = [...new Set([...Object.keys(entry.before ?? {}), ...Object.keys(entry.after ?? {})])]
  const what = action === 'change' ? `: ${members.join(', ')}` : ''
  const who = `${keyName} (${keyId}${address === '' ? '' : `, ${address}`})`
  return visible(`${seq}  ${at}  ${action} ${resourceKind} ${resourceName}${what}  by ${who}`)
}

function seqOf(text: string | undefined): number {
  if (text === undefined) return 0
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--after must be the seq of an entry, not "${text}"`)
  return Number(text)
}

/** One entry a line, in the order of the chain. `--after` the last one that is known goes on where an export ended. */
async function exportAll({ print, note }: Terminal, client: ApiClient, after: number): Promise<void> {
  const { body: own } = await client.call<{ _id: string; name: string }>('GET', '/v1/environments/me?secrets=false')
  // By the time of that entry; those of the same time are distinguished by their number.
  const from = after === 0 ? undefined : (await client.call<AuditEntry>('GET', `/v1/audit/${after}`)).body.at
  let count = 0
  let next: string | null | undefined
  do {
    const query = { orderDirection: 'ASC', limit: entriesPerPage, from, after: next ?? undefined }
    const { body }: { body: Page } = await client.call<Page>('GET', '/v1/audit', { query })
    for (const entry of body.data) {
      if (entry.seq <= after) continue
      print(JSON.stringify({ environmentId: own._id, ...entry }))
      count += 1
    }
    next = body.next
  } while (next !== null)
  note(`${count} entries of ${visible(own.name)}`)
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
  client: ApiClient,
  { pin, json }: { readonly pin?: string | undefined; readonly json: boolean },
): Promise<void> {
  let checked = 0
  let result: Verification
  let query: Query = { pin }
  do {
    result = (await client.call<Verification>('GET', '/v1/audit/verify', { query })).body
    checked += result.checked
    query = { after: result.next ?? undefined }
  } while (result.next !== null)
  const { ok, head, broken, keyedFrom } = result
  if (json) print(JSON.stringify({ ok, checked, head, broken, keyedFrom }))
  else if (head === null && ok) print('The audit log is empty.')
  else if (ok) {
    const pinned = pin === undefined ? '' : ` The pinned entry ${pin.split(':')[0]} is among them, unchanged.`
    print(`All ${checked} entries are valid.${pinned} The head to pin is ${head?.seq}:${head?.hash}`)
  }
  if (broken === null) return
  const { body: own } = await client.call<{ name: string }>('GET', '/v1/environments/me?secrets=false')
  throw new CommandFailed(`The audit log of ${own.name} is broken at entry ${broken.seq}: ${reasons[broken.reason]}`)
}

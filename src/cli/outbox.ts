// posthorn outbox: shows what was captured instead of sent, waits for it, saves it, and clears it.
import { outboxChannels } from '../domain/messages/outbox.ts'
import type { ApiClient, Query } from './api-client.ts'
import { clientFor } from './api-client.ts'
import type { Command, Terminal } from './command.ts'
import { CommandFailed, UsageError } from './command.ts'
import { countOf, durationOf, oneOf, readOptions, serviceUsage, timestampOf, wrongCall } from './terminal/arguments.ts'
import { confirmed } from './terminal/confirm.ts'
import type { OutboxItem, OutboxMessage } from './terminal/outbox-lines.ts'
import { itemLines, messageLines } from './terminal/outbox-lines.ts'
import { visibleJson, visibleLines } from './terminal/visible-text.ts'

const listedMax = 1_000
const pageSize = 100
/** The service waits so long at a time. */
const waitMsMax = 60_000
const waitMsLongest = 3_600_000

const filterUsage =
  '[--channel C] [--recipient WHO] [--workflow ID] [--text TEXT] [--transaction ID] [--after T] [--before T]'

export const outboxCommand: Command = {
  name: 'outbox',
  about: 'Shows what was captured instead of sent, waits for it, saves it, and clears it.',
  examples: [
    'posthorn outbox',
    'posthorn outbox wait --transaction test-17 --timeout 1m',
    'posthorn outbox eml MESSAGE-ID > mail.eml',
  ],
  usage: [
    `outbox [list] ${filterUsage} [--limit 20] ${serviceUsage}`,
    `outbox show MESSAGE-ID ${serviceUsage}`,
    'outbox eml MESSAGE-ID [SERVICE] > FILE',
    `outbox wait ${filterUsage} [--timeout 30s] ${serviceUsage}`,
    `outbox clear ${filterUsage} [--yes] ${serviceUsage}`,
  ],
  run: async (terminal, args) => {
    const { values, positionals } = readOptions(outboxCommand, args, {
      channel: { type: 'string' },
      recipient: { type: 'string' },
      workflow: { type: 'string' },
      text: { type: 'string' },
      transaction: { type: 'string' },
      after: { type: 'string' },
      before: { type: 'string' },
      limit: { type: 'string' },
      timeout: { type: 'string' },
      yes: { type: 'boolean', default: false },
    })
    const [action = 'list', ...more] = positionals
    const one = actionsOnOne.get(action)
    const many = actionsOnMany.get(action)
    if (one !== undefined && more.length === 1) {
      return one(terminal, await clientFor(terminal, values), more[0] ?? '', values.json)
    }
    if (many === undefined || more.length > 0) throw wrongCall(outboxCommand)
    const asked = { ...values, filter: filterOf(values) }
    checkNumbers(asked)
    return many(terminal, await clientFor(terminal, values), asked)
  },
}

interface FilterValues {
  readonly channel?: string | undefined
  readonly recipient?: string | undefined
  readonly workflow?: string | undefined
  readonly text?: string | undefined
  readonly transaction?: string | undefined
  readonly after?: string | undefined
  readonly before?: string | undefined
}

interface Asked {
  readonly filter: Query
  readonly limit?: string | undefined
  readonly timeout?: string | undefined
  readonly yes: boolean
  readonly json: boolean
}

function filterOf(values: FilterValues): Query {
  const now = new Date()
  return {
    channel: oneOf('--channel', values.channel, outboxChannels),
    recipient: values.recipient,
    workflow: values.workflow,
    text: values.text,
    transactionId: values.transaction,
    capturedAfter: timestampOf('--after', values.after, now)?.toISOString(),
    capturedBefore: timestampOf('--before', values.before, now)?.toISOString(),
  }
}

function checkNumbers({ limit, timeout }: Asked): void {
  countOf('--limit', limit, listedMax)
  if (timeout !== undefined) waitMsOf(timeout)
}

function waitMsOf(text: string): number {
  const ms = durationOf(text)
  if (ms !== undefined && ms <= waitMsLongest) return ms
  throw new UsageError(`--timeout must be a duration such as 500ms, 30s or 2m, at most 1h, not "${text}"`)
}

interface OutboxPage {
  readonly data: readonly OutboxItem[]
  readonly next: string | null
  readonly totalCount: number
  readonly totalCountCapped: boolean
}

type OnMany = (terminal: Terminal, client: ApiClient, asked: Asked) => Promise<void>
type OnOne = (terminal: Terminal, client: ApiClient, id: string, json: boolean) => Promise<void>

const listItems: OnMany = async (terminal, client, { filter, limit, json }) => {
  const wanted = countOf('--limit', limit, listedMax) ?? 20
  const items: OutboxItem[] = []
  let total = 0
  for (let after: string | null | undefined; after !== null && items.length < wanted; ) {
    const query = { ...filter, after, limit: Math.min(pageSize, wanted - items.length) }
    const { body } = await client.call<OutboxPage>('GET', '/v1/outbox', { query })
    items.push(...body.data)
    total = body.totalCount
    after = body.next
  }
  if (json) return terminal.print(visibleJson({ data: items, totalCount: total }))
  for (const line of itemLines(items, terminal)) terminal.print(line)
  if (items.length === 0) terminal.note('No matching messages in the outbox.')
  else if (total > items.length) terminal.note(`${items.length} of ${total} messages; --limit shows more.`)
}

/** As the service allows only a minute at a time, again and again. */
const waitForItems: OnMany = async (terminal, client, { filter, timeout = '30s', json }) => {
  const deadline = performance.now() + waitMsOf(timeout)
  for (;;) {
    const waitMs = Math.max(0, Math.min(waitMsMax, Math.ceil(deadline - performance.now())))
    // A number of milliseconds has at most five digits there, and so has a minute.
    const query = { ...filter, timeout: `${waitMs}ms` }
    const { body } = await client.call<OutboxPage>('GET', '/v1/outbox/wait', { query, waitMs })
    if (body.data.length > 0) {
      if (json) return terminal.print(visibleJson({ data: body.data, totalCount: body.totalCount }))
      for (const line of itemLines(body.data, terminal)) terminal.print(line)
      return
    }
    if (performance.now() >= deadline) break
  }
  if (json) terminal.print(visibleJson({ data: [], totalCount: 0 }))
  throw new CommandFailed(`No matching message arrived within ${timeout}.`)
}

const clear: OnMany = async (terminal, client, { filter, yes, json }) => {
  const { body: page } = await client.call<OutboxPage>('GET', '/v1/outbox', { query: { ...filter, limit: 1 } })
  const count = `${page.totalCount}${page.totalCountCapped ? ' or more' : ''} ${page.totalCount === 1 ? 'message' : 'messages'}`
  if (!(await confirmed(terminal, `Remove ${count} from the outbox?`, yes))) {
    return terminal.note('Nothing was removed.')
  }
  const { body } = await client.call<{ removed: number }>('DELETE', '/v1/outbox', { query: filter })
  terminal.print(json ? visibleJson(body) : `${body.removed} removed from the outbox.`)
}

const actionsOnMany: ReadonlyMap<string, OnMany> = new Map([
  ['list', listItems],
  ['wait', waitForItems],
  ['clear', clear],
])

const pathOf = (id: string): string => `/v1/outbox/${encodeURIComponent(id)}`

const show: OnOne = async (terminal, client, id, json) => {
  const { body } = await client.call<OutboxMessage>('GET', pathOf(id))
  if (json) return terminal.print(visibleJson(body))
  for (const line of messageLines(body)) terminal.print(line)
}

const saveEml: OnOne = async (terminal, client, id, json) => {
  if (json) throw new UsageError('posthorn outbox eml writes a file, not JSON; use `posthorn outbox show` for JSON')
  const bytes = await client.bytes(`${pathOf(id)}/eml`)
  // A file is the mail itself; what a terminal is shown must not move its cursor.
  if (terminal.width === undefined) terminal.write(bytes)
  else terminal.print(visibleLines(bytes.toString('utf8').replaceAll('\r\n', '\n')))
}

const actionsOnOne: ReadonlyMap<string, OnOne> = new Map([
  ['show', show],
  ['eml', saveEml],
])

// Subscribers as rows: what a column of a file means, what is wrong with a row, and sending them in bulk.
import { nearMiss } from '../../domain/nearest.ts'
import { elementCheck } from '../../http/request/validator.ts'
import { bulkSubscriber, subscriberFields } from '../../http/routes/people/subscriber-schemas.ts'
import type { ApiClient } from '../api-client.ts'
import type { Terminal } from '../command.ts'
import { UsageError } from '../command.ts'
import { callAgain } from './batches.ts'
import type { CsvReader, Row } from './rows.ts'

/** As many as the API takes at once. */
export const peoplePerBatch = 500
/** The service writes some while others are being read. */
export const batchesAtOnce = 4

const columns = ['subscriberId', ...Object.keys(subscriberFields)]
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
const byPlainName = new Map([...columns.map((name) => [plain(name), name] as const), ['id', 'subscriberId']])

/** `firstName`, `First name` and `first_name` are one; `data.plan` is the member `plan` of `data`. */
export function subscriberReader(header: readonly string[]): CsvReader {
  const names = header.map((cell) => columnOf(cell.trim()))
  if (!names.some((name) => name.join('.') === 'subscriberId')) {
    throw new UsageError('A column must be called subscriberId')
  }
  return (cells) => {
    const subscriber: Record<string, unknown> = {}
    const data: Record<string, unknown> = {}
    for (const [place, [name = '', member]] of names.entries()) {
      const cell = (cells[place] ?? '').trim()
      // An empty cell says nothing: what is stored stays.
      if (cell === '') continue
      if (member === undefined) subscriber[name] = cell
      else data[member] = cell
    }
    return Object.keys(data).length === 0 ? subscriber : { ...subscriber, data }
  }
}

function columnOf(cell: string): readonly string[] {
  const [, member] = /^data\.(.+)$/i.exec(cell) ?? []
  if (member !== undefined) return ['data', member]
  const known = byPlainName.get(plain(cell))
  if (known !== undefined && known !== 'data') return [known]
  const nearest = nearMiss(cell, columns)
  const hint = nearest === undefined || nearest === 'data' ? '' : ` Did you mean ${nearest}?`
  throw new UsageError(
    `Unknown column "${cell}".${hint} The columns are ${columns.filter((name) => name !== 'data').join(', ')}, and data.NAME for your own data.`,
  )
}

const check = elementCheck(bulkSubscriber)

/** Undefined if it can be sent. */
function mistakeIn({ value, mistake }: Row): string | undefined {
  if (mistake !== undefined) return mistake
  const errors = check(value)
  return (
    errors &&
    Object.values(errors)
      .flatMap(({ messages }) => messages)
      .join('; ')
  )
}

export interface RowError {
  readonly line: number
  readonly subscriberId?: string
  readonly message: string
}

export interface Sent {
  readonly created: number
  readonly updated: number
  readonly errors: readonly RowError[]
}

interface BulkAnswer {
  readonly created: readonly object[]
  readonly updated: readonly object[]
  readonly failed: readonly { readonly subscriberId?: string; readonly message: string }[]
}

/** Rows that are wrong are not sent, and do not keep the others from being sent. */
export async function sendPeople(
  terminal: Pick<Terminal, 'pause'>,
  client: ApiClient,
  rows: readonly Row[],
): Promise<Sent> {
  const errors: RowError[] = []
  const good: Row[] = []
  for (const row of rows) {
    const message = mistakeIn(row)
    if (message === undefined) good.push(row)
    else errors.push({ line: row.line, ...idOf(row.value), message })
  }
  if (good.length === 0) return { created: 0, updated: 0, errors }
  const body = { subscribers: good.map(({ value }) => value) }
  const { body: answer } = await callAgain<BulkAnswer>(terminal, client, ['POST', '/v1/subscribers/bulk'], { body })
  const lines = new Map(good.map(({ line, value }) => [idOf(value).subscriberId, line]))
  const failed = answer.failed.map(({ subscriberId, message }) => ({
    line: lines.get(subscriberId) ?? 0,
    ...(subscriberId === undefined ? {} : { subscriberId }),
    message,
  }))
  return { created: answer.created.length, updated: answer.updated.length, errors: [...errors, ...failed] }
}

function idOf(value: unknown): { subscriberId?: string } {
  const { subscriberId } = (value ?? {}) as { subscriberId?: unknown }
  return typeof subscriberId === 'string' ? { subscriberId } : {}
}

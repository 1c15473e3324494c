// Subscribers as rows: what a column of a file means, what is wrong with a row, and sending them in bulk.
import { nearMiss } from '../../domain/nearest.ts'
import { unknownMembersOf } from '../../domain/unknown-members.ts'
import { elementCheck } from '../../http/request/validator.ts'
import { bulkSubscriber, subscriberFields } from '../../http/routes/people/subscriber-schemas.ts'
import type { ApiClient } from '../api-client.ts'
import { ApiError } from '../api-client.ts'
import { UsageError } from '../command.ts'
import type { Caller } from './batches.ts'
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
  const twice = names.find((name, place) => names.findIndex((other) => other.join('.') === name.join('.')) < place)
  if (twice !== undefined) throw new UsageError(`Two columns are ${twice.join('.')}: which of them is meant?`)
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
const unknownIn = unknownMembersOf(() => bulkSubscriber)

/** For rows that a person wrote: a misspelt member would be ignored by the service, and is a mistake as an unknown column is. */
export function withKnownMembers(row: Row): Row {
  if (row.mistake !== undefined) return row
  const unknown = unknownIn(row.value).map(
    ({ path, nearest }) => `${path} is unknown${nearest === undefined ? '' : `: did you mean ${nearest}?`}`,
  )
  return unknown.length === 0 ? row : { ...row, mistake: unknown.join('; ') }
}

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
  /** Those that were there, and the same. */
  readonly unchanged: number
  readonly errors: readonly RowError[]
}

interface BulkAnswer {
  readonly created: readonly object[]
  readonly updated: readonly object[]
  /** How many of those that were there did not change; older services do not say. */
  readonly unchanged?: number
  readonly failed: readonly { readonly subscriberId?: string; readonly message: string }[]
}

/** Rows that are wrong are not sent, and do not keep the others from being sent. */
export async function sendPeople(caller: Caller, client: ApiClient, rows: readonly Row[]): Promise<Sent> {
  const errors: RowError[] = []
  const good: Row[] = []
  for (const row of rows) {
    const message = mistakeIn(row)
    if (message === undefined) good.push(row)
    else errors.push({ line: row.line, ...idOf(row.value), message })
  }
  const sent = good.length === 0 ? nothing : await sendGood(caller, client, good)
  return { ...sent, errors: [...errors, ...sent.errors] }
}

const nothing: Sent = { created: 0, updated: 0, unchanged: 0, errors: [] }

/** One that the service refuses altogether (too large, or a character that cannot be stored) is halved until the row is found. */
async function sendGood(caller: Caller, client: ApiClient, good: readonly Row[]): Promise<Sent> {
  const body = { subscribers: good.map(({ value }) => value) }
  try {
    const { body: answer } = await callAgain<BulkAnswer>(caller, client, ['POST', '/v1/subscribers/bulk'], { body })
    return sentOf(good, answer)
  } catch (error) {
    if (!(error instanceof ApiError) || ![400, 413, 422].includes(error.status ?? 0)) throw error
    const [first] = good
    if (good.length === 1 && first !== undefined) {
      const message = error.message.replaceAll(/\n\s*/g, ' ').replaceAll('subscribers.0.', '')
      return { ...nothing, errors: [{ line: first.line, ...idOf(first.value), message }] }
    }
    const middle = Math.ceil(good.length / 2)
    const one = await sendGood(caller, client, good.slice(0, middle))
    const other = await sendGood(caller, client, good.slice(middle))
    return {
      created: one.created + other.created,
      updated: one.updated + other.updated,
      unchanged: one.unchanged + other.unchanged,
      errors: [...one.errors, ...other.errors],
    }
  }
}

function sentOf(good: readonly Row[], { created, updated, failed, unchanged = 0 }: BulkAnswer): Sent {
  const lines = new Map(good.map(({ line, value }) => [idOf(value).subscriberId, line]))
  const errors = failed.map(({ subscriberId, message }) => ({
    line: lines.get(subscriberId) ?? 0,
    ...(subscriberId === undefined ? {} : { subscriberId }),
    message,
  }))
  return { created: created.length, updated: updated.length - unchanged, unchanged, errors }
}

function idOf(value: unknown): { subscriberId?: string } {
  const { subscriberId } = (value ?? {}) as { subscriberId?: unknown }
  return typeof subscriberId === 'string' ? { subscriberId } : {}
}

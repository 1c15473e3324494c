// Reads a file of posthorn export, line by line, and writes what it has to an environment.
import { createReadStream } from 'node:fs'
import type { Terminal } from '../command.ts'
import { UsageError } from '../command.ts'
import type { ExportKind } from './export-lines.ts'
import { exportFormat } from './export-lines.ts'
import { peoplePerBatch } from './people.ts'
import type { Checkpoint } from './progress.ts'
import { createMeter, createSaver } from './progress.ts'
import type { Report } from './report.ts'
import { jsonRows, textLines } from './rows.ts'
import {
  writeConfiguration,
  writeEndpoint,
  writeGroup,
  writeIntegration,
  writeOverride,
  writeSettings,
  writeVariable,
} from './sink-configuration.ts'
import type { Choices } from './sink-people.ts'
import {
  writeContext,
  writePeople,
  writePreferences,
  writeSuppressions,
  writeTenant,
  writeTopic,
} from './sink-people.ts'
import type { GivenSubscription } from './sink-subscriptions.ts'
import { writeSubscriptions } from './sink-subscriptions.ts'
import type { Target, Thing, Written } from './target.ts'
import { sumOf } from './target.ts'

interface Line {
  readonly line: number
  readonly kind: ExportKind
  readonly value: Thing
}

export interface ImportState {
  /** Of the file, up to which everything is written. */
  readonly line: number
  readonly counts: Readonly<Record<string, number>>
  readonly changed: Readonly<Record<string, number>>
}

const nothingImported: ImportState = { line: 0, counts: {}, changed: {} }

/** Everything else is written one by one. */
const perBatch: Readonly<Partial<Record<ExportKind, number>>> = {
  subscriber: peoplePerBatch,
  subscription: 100,
  suppression: 500,
}

export interface LineImport {
  readonly terminal: Terminal
  readonly path: string
  readonly target: Target
  readonly report: Report
  readonly checkpoint: Checkpoint<ImportState>
}

/** The state at its end, or where it was stopped. */
export async function importLines({ terminal, path, target, report, checkpoint }: LineImport): Promise<ImportState> {
  const saver = createSaver(checkpoint)
  const meter = createMeter(terminal, 'lines')
  let state = checkpoint.state ?? nothingImported
  try {
    for await (const batch of batches(linesOf(path, state.line))) {
      if (target.caller.signal.aborted) break
      const [first] = batch
      if (first === undefined) continue
      const { changed, left, refused = 0 } = await written(target, first.kind, batch)
      await report.left(left)
      const kind = `${first.kind}s`
      state = {
        line: batch.at(-1)?.line ?? state.line,
        counts: { ...state.counts, [kind]: (state.counts[kind] ?? 0) + batch.length - refused },
        changed: { ...state.changed, [kind]: (state.changed[kind] ?? 0) + changed },
      }
      saver.reached(state)
      meter.at(state.line)
    }
  } finally {
    await saver.settled()
  }
  return state
}

async function* linesOf(path: string, after: number): AsyncGenerator<Line> {
  const input = createReadStream(path, { encoding: 'utf8' })
  // Found when it is opened; a stream reports it to no one else.
  const failed = new Promise<never>((_, reject) => {
    input.once('error', (error: NodeJS.ErrnoException) =>
      reject(new UsageError(`${path} cannot be read (${error.code})`)),
    )
  })
  failed.catch(() => {})
  await Promise.race([failed, new Promise((resolve) => input.once('open', resolve))])
  let isFirst = true
  for await (const { line, value, mistake } of jsonRows(textLines(input, lineLengthMax), lineLengthMax)) {
    const { kind, value: thing, format } = (value ?? {}) as { kind?: ExportKind; value?: Thing; format?: unknown }
    if (isFirst && format !== exportFormat) throw new UsageError(`${path} is not a file of \`posthorn export\``)
    isFirst = false
    if (mistake !== undefined) throw new UsageError(`${path}, line ${line}: ${mistake}`)
    if (kind !== undefined && thing !== undefined && line > after) yield { line, kind, value: thing }
  }
}

/** A workflow with many long e-mails. */
const lineLengthMax = 32 * 1024 * 1024

/** Lines of one kind together: people by the hundreds, subscriptions by topic. */
async function* batches(lines: AsyncGenerator<Line>): AsyncGenerator<readonly Line[]> {
  let batch: Line[] = []
  for await (const line of lines) {
    const [first] = batch
    const isSame = first !== undefined && first.kind === line.kind && fits(first, line, batch.length)
    if (!isSame && batch.length > 0) {
      yield batch
      batch = []
    }
    batch.push(line)
  }
  if (batch.length > 0) yield batch
}

const fits = (first: Line, { kind, value }: Line, count: number): boolean =>
  count < (perBatch[kind] ?? 1) && (kind !== 'subscription' || first.value['topicKey'] === value['topicKey'])

async function written(target: Target, kind: ExportKind, batch: readonly Line[]): Promise<Written> {
  if (kind === 'subscriber') return people(target, batch)
  const values = batch.map(({ value }) => value)
  if (kind === 'suppression') return writeSuppressions(target, values)
  const [value = {}] = values
  if (kind === 'subscription') {
    const given = values.map(({ topicKey: _, ...one }) => one as unknown as GivenSubscription)
    return writeSubscriptions(target, String(value['topicKey']), given)
  }
  return (
    single[kind]?.(target, value) ?? {
      changed: 0,
      left: [{ kind, id: '', reason: 'This version does not know it' }],
      refused: 1,
    }
  )
}

const configured =
  (kind: string, member: string, name: string) =>
  (target: Target, value: Thing): Promise<Written> =>
    writeConfiguration(target, { [member]: [value] }, { kind, id: String(value[name]) })

type Single = (target: Target, value: Thing) => Promise<Written>

const single: Readonly<Partial<Record<ExportKind, Single>>> = {
  setting: writeSettings,
  variable: writeVariable,
  integration: writeIntegration,
  feed: configured('feed', 'feeds', 'identifier'),
  layout: configured('layout', 'layouts', 'identifier'),
  translation: configured('translation', 'translations', 'locale'),
  workflow: configured('workflow', 'workflows', 'workflowId'),
  group: writeGroup,
  tenant: writeTenant,
  override: writeOverride,
  context: writeContext,
  endpoint: writeEndpoint,
  topic: (target, { key, name }) => writeTopic(target, String(key), name as string | undefined),
}

/** Their preferences refer to them, so they come after. */
async function people(target: Target, batch: readonly Line[]): Promise<Written> {
  const rows = batch.map(({ line, value: { preferences: _, ...value } }) => ({ line, value }))
  const { refused = 0, ...people } = await writePeople(target, rows)
  const done: Written[] = [people]
  for (const { value } of batch) {
    const { subscriberId, preferences } = value as { subscriberId?: unknown; preferences?: Choices }
    if (preferences !== undefined) done.push(await writePreferences(target, String(subscriberId), preferences))
  }
  // A choice that is refused leaves the subscriber imported.
  return { ...sumOf(done), refused }
}

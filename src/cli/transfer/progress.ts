// How far a long command is: shown as it goes, kept in a file so that it can go on later, and its errors in another.
import { appendFile, readFile, rename, rm, writeFile } from 'node:fs/promises'
import type { Terminal } from '../command.ts'
import { UsageError } from '../command.ts'
import { visible } from '../terminal/visible-text.ts'

const shownEveryMs = 2_000

export interface Meter {
  /** So many are done; `share` of the whole, from 0 to 1, if it is known. */
  at(done: number, share?: number): void
  /** The count and the rate, for the last line. */
  words(): string
}

export function createMeter({ note }: Pick<Terminal, 'note'>, what: string, before = 0): Meter {
  const startedAt = performance.now()
  let [shownAt, count] = [startedAt, before]
  const rate = (): number => Math.round((count - before) / Math.max((performance.now() - startedAt) / 1_000, 0.001))
  const words = (): string => `${count} ${what}, ${rate()} per second`
  return {
    at: (done, share) => {
      count = done
      const now = performance.now()
      if (now - shownAt < shownEveryMs) return
      shownAt = now
      note(
        share === undefined ? words() : `${String(Math.floor(share * 100)).padStart(3)} %  ${bar(share)}  ${words()}`,
      )
    },
    words,
  }
}

const barWidth = 24

const bar = (share: number): string => {
  const full = Math.round(Math.min(Math.max(share, 0), 1) * barWidth)
  return `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}]`
}

/** What a checkpoint is for: it goes on only with the very same work. */
export interface Checkpoint<State> {
  readonly state: State | undefined
  save(state: State): Promise<void>
  /** All is done. */
  remove(): Promise<void>
}

/** With `restart` one that is there is forgotten. */
export async function openCheckpoint<State>(
  path: string,
  work: Readonly<Record<string, unknown>>,
  { restart }: { readonly restart: boolean },
): Promise<Checkpoint<State>> {
  if (restart) await rm(path, { force: true })
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new UsageError(`${path} cannot be read (${error.code})`)
  })
  const key = JSON.stringify(work)
  return {
    state: text === undefined ? undefined : stateIn<State>(path, text, key),
    save: async (state) => {
      await writeFile(`${path}.new`, JSON.stringify({ work, state }), { mode: 0o600 })
      await rename(`${path}.new`, path)
    },
    remove: () => rm(path, { force: true }),
  }
}

function stateIn<State>(path: string, text: string, key: string): State {
  try {
    const { work, state } = JSON.parse(text) as { work: unknown; state: State }
    if (JSON.stringify(work) === key) return state
  } catch {
    // Reported below.
  }
  throw new UsageError(
    `${path} belongs to other work than this (another file, service or environment). Use --restart to start from the beginning.`,
  )
}

/** A state may be written so often: what came after it is done again, and changes nothing. */
const savedEveryMs = 500

/** Writes the newest state from time to time, one write after the other. */
export function createSaver<State>(checkpoint: Checkpoint<State>): {
  reached(state: State): void
  settled(): Promise<void>
} {
  let [saving, savedAt, unsaved]: [Promise<void>, number, State | undefined] = [Promise.resolve(), 0, undefined]
  const save = (state: State): void => {
    saving = saving.then(() => checkpoint.save(state))
    // Reported by `settled`.
    saving.catch(() => {})
  }
  return {
    reached: (state) => {
      unsaved = state
      if (performance.now() - savedAt < savedEveryMs) return
      savedAt = performance.now()
      unsaved = undefined
      save(state)
    },
    settled: async () => {
      if (unsaved !== undefined) save(unsaved)
      await saving
    },
  }
}

export interface LineFile {
  readonly path: string
  /** What it had before this run. */
  readonly before: readonly object[]
  /** Those that are not in it yet are written, and returned. */
  add<One extends object>(lines: readonly One[]): Promise<readonly One[]>
}

/** JSON lines, begun again unless the work goes on. Work that is repeated after a stop adds no line a second time. */
export async function openLines(path: string, { goesOn }: { readonly goesOn: boolean }): Promise<LineFile> {
  if (!goesOn) await rm(path, { force: true })
  const text = goesOn ? await readFile(path, 'utf8').catch(() => '') : ''
  // A line that was being written when the process was killed has no end.
  const known = new Set(
    text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .filter(isObject),
  )
  if (text !== '' && !text.endsWith('\n')) await writeFile(path, [...known, ''].join('\n'), { mode: 0o600 })
  return {
    path,
    before: [...known].map((line) => JSON.parse(line)),
    add: async (lines) => {
      const fresh = lines.filter((line) => {
        const size = known.size
        return known.add(JSON.stringify(line)).size > size
      })
      if (fresh.length === 0) return fresh
      await appendFile(path, fresh.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600 })
      return fresh
    },
  }
}

function isObject(line: string): boolean {
  try {
    return typeof JSON.parse(line) === 'object'
  } catch {
    return false
  }
}

export interface ErrorFile {
  readonly path: string
  count(): number
  add(errors: readonly object[]): Promise<void>
}

/** A line for each. */
export async function openErrors(path: string, how: { readonly goesOn: boolean }): Promise<ErrorFile> {
  const lines = await openLines(path, how)
  let count = lines.before.length
  return {
    path,
    count: () => count,
    add: async (errors) => {
      count += (await lines.add(errors)).length
    },
  }
}

export const errorWords = (errors: ErrorFile): string =>
  errors.count() === 0 ? '' : visible(` ${errors.count()} errors: see ${errors.path}.`)

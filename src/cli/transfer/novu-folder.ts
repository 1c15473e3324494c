// An export folder of a Novu service: a file per kind, JSON (an array) or JSON lines, in the shapes of its API.
import { createReadStream } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../command.ts'
import type { NovuSource } from './novu-source.ts'
import { jsonRows, textLines } from './rows.ts'
import type { Page, Thing } from './target.ts'

/** What a folder may hold, without the ending. */
const folderFiles = [
  'integrations',
  'feeds',
  'layouts',
  'workflows-v1',
  'workflows-v2',
  'translations',
  'subscribers',
  'topics',
  'subscriptions',
  'preferences',
] as const

const rowsPerPage = 500
/** A workflow with many long e-mails. */
const lineLengthMax = 32 * 1024 * 1024

export async function novuFolder(folder: string): Promise<NovuSource> {
  const names = new Set(
    await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(`The folder ${folder} cannot be read (${error.code})`)
    }),
  )
  if (!folderFiles.some((name) => names.has(`${name}.json`) || names.has(`${name}.jsonl`))) {
    throw new UsageError(
      `${folder} contains none of ${folderFiles.map((name) => `${name}.json`).join(', ')} (or .jsonl)`,
    )
  }
  async function* things(name: (typeof folderFiles)[number]): AsyncGenerator<Thing> {
    if (names.has(`${name}.jsonl`)) {
      const input = createReadStream(join(folder, `${name}.jsonl`), { encoding: 'utf8' })
      for await (const { line, value, mistake } of jsonRows(textLines(input, lineLengthMax), lineLengthMax)) {
        if (mistake !== undefined) throw new UsageError(`${name}.jsonl, line ${line}: ${mistake}`)
        yield value as Thing
      }
    } else if (names.has(`${name}.json`))
      yield* arrayIn(`${name}.json`, await readFile(join(folder, `${name}.json`), 'utf8'))
  }
  const all = async (name: (typeof folderFiles)[number]): Promise<Thing[]> => {
    const found: Thing[] = []
    for await (const thing of things(name)) found.push(thing)
    return found
  }
  let subscriptions: Promise<Map<string, Thing[]>> | undefined
  let preferences: Promise<Map<unknown, Thing>> | undefined
  const translations = all('translations')
  translations.catch(() => {})
  return {
    integrations: () => all('integrations'),
    feeds: () => all('feeds'),
    layouts: () => things('layouts'),
    workflowsV1: () => things('workflows-v1'),
    workflowsV2: () => things('workflows-v2'),
    locales: async () => new Set((await translations).map(({ locale }) => String(locale))),
    ownTexts: async (locale) =>
      (await translations).find((one) => one['locale'] === locale)?.['texts'] as Thing | undefined,
    subscribers: (after) => paged(things('subscribers'), after),
    topics: () => paged(things('topics')),
    subscriptions: async function* (topicKey) {
      subscriptions ??= all('subscriptions').then(grouped)
      yield { data: (await subscriptions).get(topicKey) ?? [], next: null }
    },
    preferences: async (subscriberId) => {
      preferences ??= all('preferences').then((found) => new Map(found.map((one) => [one['subscriberId'], one])))
      return (await preferences).get(subscriberId)
    },
  }
}

function arrayIn(name: string, text: string): Thing[] {
  try {
    const value: unknown = JSON.parse(text)
    const list = Array.isArray(value) ? value : (value as { data?: unknown }).data
    if (Array.isArray(list)) return list
  } catch {
    // Reported below.
  }
  throw new UsageError(`${name} must contain a JSON array`)
}

/** A subscription names its topic by its key, or has the topic itself. */
function grouped(found: readonly Thing[]): Map<string, Thing[]> {
  const byTopic = new Map<string, Thing[]>()
  for (const one of found) {
    const key = String(one['topicKey'] ?? (one['topic'] as Thing | undefined)?.['key'])
    const ofTopic = byTopic.get(key)
    if (ofTopic === undefined) byTopic.set(key, [one])
    else ofTopic.push(one)
  }
  return byTopic
}

/** The cursor is the number of the row. */
async function* paged(things: AsyncGenerator<Thing>, after = '0'): AsyncGenerator<Page> {
  let [data, place]: [Thing[], number] = [[], 0]
  for await (const thing of things) {
    place += 1
    if (place <= Number(after)) continue
    data.push(thing)
    if (data.length < rowsPerPage) continue
    yield { data, next: String(place) }
    data = []
  }
  yield { data, next: null }
}

// Which messages are marked: the API says of their step that the outcome of an attempt was unknown.
import type pg from 'pg'
import { tryCall } from './api.ts'
import type { EnvironmentLetter } from './people.ts'

/** The reason that each attempt of unknown outcome leaves behind. */
const unknownOutcome = 'perhapsSent'
/** The reason of a step that was skipped because a second message would do more harm than none. */
const leftAlone = 'leftUnsure'

interface Reason {
  readonly code: string
  readonly sentence: string
}

interface Step {
  readonly status: string
  readonly reasons: readonly Reason[]
  readonly messages: readonly { readonly _id: string }[]
}

export interface MarkedResult {
  readonly marks: ReadonlyMap<string, number>
  readonly leftAlone: ReadonlySet<string>
  /** Which words were taken for a mark, and how often. */
  readonly words: ReadonlyMap<string, number>
  /** What the details of those without a mark say, for whoever looks for the reason. */
  readonly unmarkedDetails: ReadonlyMap<string, readonly string[]>
}

export async function findMarked(
  client: pg.Client,
  baseUrls: readonly string[],
  ids: readonly string[],
): Promise<MarkedResult> {
  const { rows } = await client.query<{ id: string; message: string; notification: string; environment: string }>(
    `select mark.id, m.id as message, m.notification_id as notification, left(lower(v.name), 1) as environment
     from messages m join environments v on v.id = m.environment_id
       cross join lateral (select split_part(coalesce(m.subject, m.content #>> '{}'), ' ', 1) as id) mark
     where m.channel in ('email', 'sms') and mark.id = any($1)`,
    [ids.map((id) => `soak:${id}`)],
  )
  const marks = new Map<string, number>()
  const skipped = new Set<string>()
  const words = new Map<string, number>()
  const unmarkedDetails = new Map<string, readonly string[]>()
  for (const row of rows) {
    const id = row.id.slice('soak:'.length)
    const step = await stepOf(baseUrls, row.environment as EnvironmentLetter, row.notification, row.message)
    const reasons = step?.reasons ?? []
    const found = reasons.filter(({ code }) => code === unknownOutcome)
    if (found.length > 0) marks.set(id, found.length)
    else
      unmarkedDetails.set(
        id,
        reasons.map(({ code }) => code),
      )
    if (step?.status === 'skipped' && reasons.some(({ code }) => code === leftAlone)) skipped.add(id)
    for (const { sentence } of found) words.set(sentence, (words.get(sentence) ?? 0) + 1)
  }
  return { marks, leftAlone: skipped, words, unmarkedDetails }
}

/** What the API answers to "why" about the step that made the message. */
async function stepOf(
  baseUrls: readonly string[],
  environment: EnvironmentLetter,
  notification: string,
  message: string,
): Promise<Step | undefined> {
  for (const baseUrl of [...baseUrls, ...baseUrls]) {
    const path = `/v1/notifications/${notification}/why`
    const answer = await tryCall(baseUrl, { method: 'GET', path, environment })
    if (answer === 'lost' || answer.status !== 200) continue
    const steps = answer.body.steps as Step[]
    return steps.find(({ messages }) => messages.some(({ _id }) => _id === message))
  }
  throw new Error(`No node answered for the notification ${notification}`)
}

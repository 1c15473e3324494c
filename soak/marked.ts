// Which messages are marked: their job's details say that the outcome of an attempt was unknown. Asked of the API.
import type pg from 'pg'
import { tryCall } from './api.ts'
import type { EnvironmentLetter } from './people.ts'

/** The words of an execution detail that say so, in whatever form. */
const unknownOutcome = /unknown|unsure|perhaps|interrupted|may have been sent|not known/i

interface Detail {
  readonly detail: string
  readonly raw?: string | null
}

export interface MarkedResult {
  readonly marks: ReadonlyMap<string, number>
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
  const { rows } = await client.query<{ id: string; job: string; notification: string; environment: string }>(
    `select coalesce(m.subject, m.content #>> '{}') as id, m.job_id as job, m.notification_id as notification,
       left(lower(v.name), 1) as environment
     from messages m join environments v on v.id = m.environment_id
     where m.channel in ('email', 'sms') and coalesce(m.subject, m.content #>> '{}') = any($1)`,
    [ids.map((id) => `soak:${id}`)],
  )
  const marks = new Map<string, number>()
  const words = new Map<string, number>()
  const unmarkedDetails = new Map<string, readonly string[]>()
  for (const row of rows) {
    const id = row.id.slice('soak:'.length)
    const details = await detailsOf(baseUrls, row.environment as EnvironmentLetter, row.notification, row.job)
    const found = details.filter(({ detail, raw }) => unknownOutcome.test(detail) || unknownOutcome.test(raw ?? ''))
    if (found.length > 0) {
      marks.set(id, found.length)
      for (const { detail, raw } of found) {
        const text = unknownOutcome.test(detail) ? detail : `${detail}: ${raw}`
        words.set(text, (words.get(text) ?? 0) + 1)
      }
    } else {
      unmarkedDetails.set(
        id,
        details.map(({ detail }) => detail),
      )
    }
  }
  return { marks, words, unmarkedDetails }
}

async function detailsOf(
  baseUrls: readonly string[],
  environment: EnvironmentLetter,
  notification: string,
  job: string,
): Promise<readonly Detail[]> {
  for (const baseUrl of [...baseUrls, ...baseUrls]) {
    const answer = await tryCall(baseUrl, { method: 'GET', path: `/v1/notifications/${notification}`, environment })
    if (answer === 'lost' || answer.status !== 200) continue
    const jobs = answer.body.jobs as { _id: string; executionDetails: Detail[] }[]
    return jobs.find(({ _id }) => _id === job)?.executionDetails ?? []
  }
  throw new Error(`No node answered for the notification ${notification}`)
}

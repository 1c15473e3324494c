// Counts: what the worker counted on the way equals a recount of the rows.
import type { Sql, Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'

const stepType = sql`v.definition #>> array['steps', t.step::text, 'template', 'type']`
const versions = sql`join workflow_versions v on v.environment_id = t.environment_id and v.id = t.version_id`

const recounts = (environmentId: string): Readonly<Record<string, Statement>> => ({
  messages: sql`
    select concat_ws(' ', ${stepType}, coalesce(t.provider_id, 'none'),
      case when t.status = 'sent' then case when t.is_test then 'captured' else 'sent' end
           when t.status = 'warning' and t.provider_id is not null then 'unsure' else 'failed' end) as of, count(*)
    from messages t ${versions}
    where t.environment_id = ${environmentId} and t.state = 'done' and t.status is not null
      and not coalesce(t.sending ? 'dueAt', false) group by 1`,
  steps: sql`
    select concat_ws(' ', ${stepType}, t.status) as of, count(*) from jobs t ${versions}
    where t.environment_id = ${environmentId} and t.status in ('completed', 'failed', 'skipped', 'canceled', 'merged')
    group by 1`,
  events: sql`select '' as of, count(*) from events t where t.environment_id = ${environmentId}`,
  notifications: sql`select '' as of, count(*) from notifications t where t.environment_id = ${environmentId}`,
})

const labels: Readonly<Record<string, Statement>> = {
  messages: sql`concat_ws(' ', ${stepType}, t.provider_id, t.outcome)`,
  steps: sql`concat_ws(' ', ${stepType}, t.outcome)`,
  events: sql`''`,
  notifications: sql`''`,
}

interface Tally {
  readonly of: string
  readonly count: number
}

export async function countMistakes(db: Sql, environmentId: string): Promise<string[]> {
  const mistakes: string[] = []
  for (const [measure, recount] of Object.entries(recounts(environmentId))) {
    const expected = await db.rows<Tally>(recount)
    const counted = await db.rows<Tally>(sql`
      select ${labels[measure]} as of, sum(t.count)::bigint as count from count_deltas t left ${versions}
      where t.environment_id = ${environmentId} and t.measure = ${measure} group by 1`)
    // A run that was merged and goes on, or is cancelled, ends twice: see docs/counts.md.
    const isOnce = ({ of }: Tally): boolean => !of.endsWith(' merged')
    const [one, other] = [textOf(expected.filter(isOnce)), textOf(counted.filter(isOnce))]
    if (one !== other) mistakes.push(`${measure} are counted as {${other}}, and recounted as {${one}}`)
  }
  return mistakes
}

const textOf = (tallies: readonly Tally[]): string =>
  tallies
    .filter((one) => Number(one.count) !== 0)
    .map((one) => `${one.of}: ${one.count}`)
    .sort()
    .join(', ')

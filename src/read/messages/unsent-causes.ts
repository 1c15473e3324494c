// Messages that were not sent, or perhaps were, counted by what the list of messages can be asked for.
import type { Sql } from '../../db/sql.ts'
import { allOf, sql } from '../../db/sql.ts'
import { channels } from '../../domain/delivery/integration.ts'
import type { Environment } from '../../domain/environment.ts'
import { noProvider } from '../../world/meter.ts'
import type { AskedRange } from '../page/time-range.ts'
import { timeRangeOf } from '../page/time-range.ts'
import { isUnsent } from './message-pages.ts'

/** Of each channel, so many of the newest are looked at. */
const unsentLookedAtMax = 10_000

export interface UnsentGroup {
  readonly channel: string
  readonly provider: string
  readonly errorId: string
  readonly detail: string
  readonly count: number
}

interface UnsentRow {
  readonly channel: string
  readonly provider: string
  readonly error_id: string
  readonly count: number
  readonly looked_at: number
}

/** The most frequent first. Removed messages are counted too, as everywhere. */
export async function unsentGroups(
  db: Sql,
  environment: Environment,
  asked: AskedRange,
): Promise<{ isCapped: boolean; data: UnsentGroup[] }> {
  const { afterMs, beforeMs } = timeRangeOf(asked)
  const inTime = [
    ...(afterMs === undefined ? [] : [sql`m.created_at >= ${new Date(afterMs)}::timestamptz`]),
    ...(beforeMs === undefined ? [] : [sql`m.created_at <= ${new Date(beforeMs)}::timestamptz`]),
  ]
  const rows = await db.rows<UnsentRow>(sql`
    select m.channel, m.provider, m.error_id, (count(*) filter (where m.status = 'warning'))::int as count,
           max(m.looked_at)::int as looked_at
    from unnest(${channels}::text[]) as one (channel)
    cross join lateral (
      select m.*, count(*) over () as looked_at from (
        select m.channel, coalesce(m.provider_id, ${noProvider}) as provider, coalesce(m.error_id, '') as error_id, m.status
        from messages m
        where m.environment_id = ${environment.id} and ${allOf([isUnsent, ...inTime])} and m.channel = one.channel
        order by m.created_at desc, m.id desc limit ${unsentLookedAtMax}::int) as m) as m
    group by 1, 2, 3`)
  const found = rows.filter(({ count }) => count > 0)
  return {
    isCapped: rows.some((row) => row.looked_at >= unsentLookedAtMax),
    data: found
      .map(({ channel, provider, error_id: errorId, count }) => {
        const detail = provider === noProvider ? (withoutAddress[errorId] ?? notSent) : perhapsSent
        return { channel, provider, errorId, detail, count }
      })
      .sort((one, other) => other.count - one.count),
  }
}

const notSent = 'Not sent: there is no address, or it is suppressed'
const perhapsSent = 'Perhaps sent: the provider did not confirm it'
const withoutAddress: Readonly<Record<string, string>> = {
  mail_unexpected_error: 'Not sent: the subscriber has no e-mail address, or it is suppressed',
  unexpected_sms_error: 'Not sent: the phone number is suppressed',
  no_subscriber_phone: 'Not sent: the subscriber has no phone number',
  no_subscriber_chat_channel_id: 'Not sent: the subscriber has no chat channel',
  no_subscriber_chat_phone_number: 'Not sent: the subscriber has no phone number for chat',
  unexpected_push_error: 'Not sent: the subscriber has no device',
}

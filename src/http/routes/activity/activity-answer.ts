// The answer to a read of the list of activities: the newest page is sent again as it was while its rows are the same.
import type { Answer } from '../../../domain/answer.ts'
import { ok } from '../../../domain/answer.ts'
import type { Principal } from '../../../domain/environment.ts'
import type { Activity } from '../../../domain/insight/activity.ts'
import { seesAddresses } from '../../../domain/messages/shown-addresses.ts'
import { Turn } from '../../../domain/turn.ts'
import { activityWithoutAddresses, stampedActivityPage } from '../../../read/activity/activity.ts'
import type { ActivityQuery } from '../../../read/activity/activity-filters.ts'
import { activityPageKey, activityStamp } from '../../../read/activity/activity-stamp.ts'
import type { Service } from '../../route.ts'

export async function activityAnswer(
  { db, world, versions, keptPages: { activities } }: Pick<Service, 'db' | 'world' | 'versions' | 'keptPages'>,
  principal: Principal,
  query: ActivityQuery,
): Promise<Answer<unknown>> {
  const { environment } = principal
  const now = world.now()
  const isFull = seesAddresses(principal)
  const key = activityPageKey(environment, query, isFull)
  const kept = key === undefined ? undefined : activities.find(key, now)
  if (key !== undefined && kept !== undefined) {
    const stamp = await activityStamp(db, environment, query.limit, kept.jobIds)
    if (stamp === kept.stamp) return { status: 200, body: undefined, written: { text: kept.text } }
    activities.forget(key)
  }
  const { page, stamped } = await stampedActivityPage(db, environment, query, versions)
  const answer = ok(isFull ? page : { ...page, data: await withoutAddresses(page.data) })
  // One that has just changed will soon change again: it is kept when it is read the next time.
  if (key === undefined || stamped === undefined || kept !== undefined) return answer
  return { ...answer, written: { keep: (text) => activities.keep(key, { ...stamped, text }, now) } }
}

async function withoutAddresses(page: readonly Activity[]): Promise<Activity[]> {
  const turn = new Turn()
  const shown: Activity[] = []
  for (const activity of page) shown.push(await activityWithoutAddresses(activity, turn))
  return shown
}

// The weekly hours of a subscriber as pages send them.
import { Type } from 'typebox'
import type { Schedule } from '../../../domain/preferences/schedule.ts'
import { invalidField } from '../../../domain/problem.ts'
import { schedule } from '../people/preference-schemas.ts'

export const inboxSchedule = Type.Unsafe<Schedule | null>({
  ...schedule,
  title: 'InboxSchedule',
  type: ['object', 'null'],
})

/** Hours that are switched on name at least one day. */
export function readSchedule(field: string, given: Schedule): Schedule {
  const { isEnabled, weeklySchedule, outside } = given
  const days = Object.keys(weeklySchedule ?? {})
  if (isEnabled && weeklySchedule !== undefined && days.length === 0) {
    throw invalidField(`${field}.weeklySchedule`, 'weeklySchedule must have at least one day while the schedule is on')
  }
  return {
    isEnabled,
    ...(weeklySchedule === undefined ? {} : { weeklySchedule }),
    ...(outside === undefined ? {} : { outside }),
  }
}

// When a person wants to be reached: days and hours. Outside of them messages wait, except in the inbox and critical ones.
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { Button, Toggle } from '../../ui/controls.tsx'
import { Section } from '../../ui/page.tsx'

type Schedule = NonNullable<Schemas['SubscriberPreferences']['global']['schedule']>
type Hours = { readonly start: string; readonly end: string }
type Day = { readonly isEnabled: boolean; readonly hours?: readonly Hours[] }
type Week = Readonly<Record<string, Day | undefined>>

const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
const nameOf = (day: string): string => day.charAt(0).toUpperCase() + day.slice(1)
const officeHours: Hours = { start: '09:00', end: '18:00' }
const hasBothTimes = ({ start, end }: Hours): boolean => start !== '' && end !== ''

/** `9am`, `09:00 PM` and `21:00`, as a field for times takes it; an emptied one stays empty. */
function as24Hours(text: string): string {
  const [, hour, minute = '00', half] = /^(\d{1,2})(?::(\d\d))? ?([AaPp])?/.exec(text) ?? []
  if (hour === undefined) return ''
  const isAfternoon = half?.toLowerCase() === 'p'
  const at = half === undefined ? Number(hour) : (Number(hour) % 12) + (isAfternoon ? 12 : 0)
  return `${String(at).padStart(2, '0')}:${minute}`
}

export function ScheduleForm({
  schedule,
  timezone,
  disabled,
  busy,
  onSave,
}: {
  schedule: Schedule | undefined
  timezone: string | undefined
  disabled: boolean
  busy: boolean
  onSave: (schedule: { isEnabled: boolean; weeklySchedule?: Week }, onSaved?: () => void) => void
}) {
  const [edited, setEdited] = useState<Week>()
  const week: Week = edited ?? ((schedule?.weeklySchedule ?? {}) as Week)
  const isOn = schedule?.isEnabled === true
  const dayOf = (day: string): Day => week[day] ?? { isEnabled: false }
  const set = (day: string, next: Day) => setEdited({ ...week, [day]: next })
  const isWhole = days.every((day) => !dayOf(day).isEnabled || (dayOf(day).hours ?? []).every(hasBothTimes))
  const save = (saved: Week) =>
    onSave({ isEnabled: isOn, weeklySchedule: saved }, () =>
      // What was changed while it was being saved stays.
      setEdited((now) => (now === saved ? undefined : now)),
    )
  const firstWeek = () =>
    Object.fromEntries(days.map((day, index) => [day, { isEnabled: index < 5, hours: index < 5 ? [officeHours] : [] }]))
  return (
    <Section title="Hours">
      <div className="flex flex-col gap-4 p-4">
        <Toggle
          label="Only at certain hours"
          hint={`Other messages wait for them; the inbox and critical workflows do not. Times are those of ${timezone ?? 'UTC, as the person has no time zone'}.`}
          checked={isOn}
          disabled={disabled || busy}
          onChange={(on) =>
            onSave({
              isEnabled: on,
              ...(on && schedule?.weeklySchedule == null ? { weeklySchedule: firstWeek() } : {}),
            })
          }
        />
        {isOn && (
          <ul className="flex flex-col gap-2">
            {days.map((day) => (
              <DayRow
                key={day}
                name={nameOf(day)}
                day={dayOf(day)}
                disabled={disabled}
                onChange={(next) => set(day, next)}
              />
            ))}
          </ul>
        )}
        {isOn && edited !== undefined && (
          <div className="flex items-center justify-end gap-2">
            {!isWhole && <span className="text-xs text-red">Fill in both times of each day.</span>}
            <Button onClick={() => setEdited(undefined)}>Discard</Button>
            <Button look="primary" busy={busy} disabled={!isWhole} onClick={() => save(edited)}>
              Save the hours
            </Button>
          </div>
        )}
      </div>
    </Section>
  )
}

function DayRow({
  name,
  day,
  disabled,
  onChange,
}: {
  name: string
  day: Day
  disabled: boolean
  onChange: (day: Day) => void
}) {
  const [first, ...others] = day.hours ?? []
  const whole = (day.hours ?? []).filter(hasBothTimes)
  const field = (which: keyof Hours, words: string) => (
    <input
      type="time"
      aria-label={`${name}, ${words}`}
      disabled={disabled}
      value={as24Hours(first?.[which] ?? '')}
      onChange={(event) =>
        onChange({ ...day, hours: [{ ...(first ?? officeHours), [which]: event.target.value }, ...others] })
      }
      className="field w-28!"
    />
  )
  return (
    <li className="flex min-h-9 flex-wrap items-center gap-x-4 gap-y-1">
      <span className="w-36">
        <Toggle
          label={name}
          checked={day.isEnabled}
          disabled={disabled}
          onChange={(on) => onChange({ isEnabled: on, hours: whole.length > 0 ? whole : [officeHours] })}
        />
      </span>
      {!day.isEnabled && <span className="text-ink-3">Not at all</span>}
      {day.isEnabled && first === undefined && <span className="text-ink-3">All day</span>}
      {day.isEnabled && first !== undefined && (
        <span className="flex items-center gap-2">
          {field('start', 'from')} <span className="text-ink-3">to</span> {field('end', 'to')}
          {others.length > 0 && <span className="text-xs text-ink-3">and {others.length} more</span>}
        </span>
      )}
    </li>
  )
}

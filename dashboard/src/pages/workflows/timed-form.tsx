// Until a time of day: every few days, on days of the week, or on days of the month; in the zone of the person.
import { useState } from 'react'
import { SelectField, TextField, Ticks } from '../../ui/controls.tsx'
import type { Json } from './draft.ts'
import type { StepFormProps } from './step-fields.tsx'
import { errorAt } from './step-fields.tsx'

const weekDays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const nameOf = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
const units = [
  ['days', 'days'],
  ['weeks', 'weeks'],
  ['months', 'months'],
] as const

interface Timed {
  readonly atTime?: string
  readonly weekDays?: readonly string[]
  readonly monthDays?: readonly (string | number)[]
  readonly monthlyType?: string
  readonly ordinal?: string
  readonly ordinalValue?: string
}

/** What says on which days belongs to its unit; with another one it would be sent, and not be seen. */
function timedFor(unit: string, { weekDays: ofWeek, monthDays, monthlyType, ordinal, ordinalValue, ...rest }: Timed) {
  const ofMonth = { monthDays, monthlyType, ordinal, ordinalValue }
  if (unit === 'weeks') return { ...rest, ...given({ weekDays: ofWeek }) }
  return unit === 'months' ? { ...rest, ...given(ofMonth) } : rest
}

const given = (members: Json): Json =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

const daysIn = (text: string): string[] => text.split(',').flatMap((day) => (day.trim() === '' ? [] : [day.trim()]))

/** Shows what is typed as it is typed, and tidies it when the field is left. */
function MonthDays({
  days,
  error,
  onDays,
}: {
  days: readonly (string | number)[]
  error: string | undefined
  onDays: (days: string[]) => void
}) {
  const tidy = days.join(', ')
  const [text, setText] = useState(tidy)
  return (
    <TextField
      label="Days of the month"
      hint="Numbers with commas between: 1, 15."
      value={daysIn(text).join(', ') === tidy ? text : tidy}
      error={error}
      onText={(next) => {
        setText(next)
        onDays(daysIn(next))
      }}
      onBlur={() => setText(tidy)}
    />
  )
}

/** `9am` and `9:30 PM` as a field for times takes them. */
function as24Hours(text: string): string {
  const [, hour, minute = '00', half] = /^(\d{1,2})(?::(\d\d))?[^apAP]*([AaPp])?/.exec(text) ?? []
  if (hour === undefined) return ''
  const at = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
  return `${String(at).padStart(2, '0')}:${minute}`
}

export function TimedForm({
  metadata,
  set,
  ...props
}: StepFormProps & { metadata: Json; set: (members: Json) => void }) {
  const timed = (metadata.timed ?? {}) as Timed
  const unit = String(metadata.unit ?? 'days')
  const put = (members: Timed) => set({ timed: { ...timed, ...members } })
  return (
    <>
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-3">
        <TextField
          label="Every"
          type="number"
          min={1}
          value={String(metadata.amount ?? 1)}
          error={errorAt(props, 'metadata.amount')}
          onText={(text) => set({ amount: text === '' ? undefined : Number(text) })}
        />
        <SelectField
          label="Unit"
          value={unit}
          options={units}
          onText={(next) => set({ unit: next, timed: timedFor(next, timed) })}
        />
        <TextField
          label="At"
          type="time"
          hint="In the person’s time zone."
          value={as24Hours(timed.atTime ?? '')}
          error={errorAt(props, 'metadata.timed.atTime')}
          onText={(atTime) => put({ atTime })}
        />
      </div>
      {unit === 'weeks' && (
        <div className="flex flex-col gap-1">
          <span className="text-sm font-medium">On</span>
          <Ticks
            label="Days of the week"
            options={weekDays.map((day) => [day, nameOf(day)] as const)}
            chosen={timed.weekDays ?? []}
            onChange={(chosen) => put({ weekDays: weekDays.filter((day) => chosen.includes(day)) })}
          />
        </div>
      )}
      {unit === 'months' && (timed.monthlyType ?? 'each') === 'each' && (
        <MonthDays
          days={timed.monthDays ?? []}
          error={errorAt(props, 'metadata.timed.monthDays')}
          onDays={(monthDays) => put({ monthlyType: 'each', monthDays })}
        />
      )}
    </>
  )
}

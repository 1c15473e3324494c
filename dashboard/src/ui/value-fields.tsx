// Fields for values that are more than a text: lists, names with values, times of day, and values of any kind.
import type { ReactNode } from 'react'
import { useState } from 'react'
import { Button, IconButton, TextField } from './controls.tsx'

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  readonly error?: string | undefined
  readonly placeholder?: string | undefined
}

const partsOf = (text: string): string[] => text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))

/** Values with commas between: shown as it is typed, and tidied when the field is left. */
export function ListField({
  values,
  onValues,
  ...field
}: FieldProps & { values: readonly (string | number)[]; onValues: (values: string[]) => void }) {
  const tidy = values.join(', ')
  const [text, setText] = useState(tidy)
  return (
    <TextField
      {...field}
      value={partsOf(text).join(', ') === tidy ? text : tidy}
      onText={(next) => {
        setText(next)
        onValues(partsOf(next))
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

export const TimeField = ({
  value,
  onText,
  ...field
}: FieldProps & { value: string; onText: (text: string) => void }) => (
  <TextField {...field} type="time" value={as24Hours(value)} onText={onText} />
)

/** A text that can be read as JSON is what it says; any other is text. */
function read(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

function written(value: unknown, isText: boolean): string {
  if (value === undefined) return ''
  return typeof value === 'string' && (isText || read(value) === value) ? value : JSON.stringify(value)
}

/** Of any kind: a number, true, a list in brackets, or a text; `isText`: nothing but a text. */
export function ValueField({
  value,
  isText = false,
  onValue,
  ...field
}: FieldProps & { value: unknown; isText?: boolean; onValue: (value: unknown) => void }) {
  const [text, setText] = useState<string>()
  return (
    <TextField
      {...field}
      value={text ?? written(value, isText)}
      onText={(next) => {
        setText(next)
        onValue(next === '' ? undefined : isText ? next : read(next))
      }}
      onBlur={() => setText(undefined)}
    />
  )
}

type Pair = readonly [name: string, value: string]

const isRepeated = (pairs: readonly Pair[], place: number): boolean =>
  pairs[place]?.[0] !== '' && pairs.findIndex(([name]) => name === pairs[place]?.[0]) < place
const wholeOf = (pairs: readonly Pair[]) =>
  Object.fromEntries(pairs.filter(([name], place) => name !== '' && !isRepeated(pairs, place)))
const isSame = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Names with a text each, such as headers. A pair without a name, or with that of one before it, is not in the value yet. */
export function PairsField({
  label,
  hint,
  error,
  value,
  onValue,
}: FieldProps & {
  value: Readonly<Record<string, string>>
  onValue: (value: Record<string, string> | undefined) => void
}) {
  const [typed, setTyped] = useState<readonly Pair[]>([])
  // What was typed stays as it was typed while it says the same.
  const pairs = isSame(wholeOf(typed), value) ? typed : Object.entries(value)
  const put = (next: readonly Pair[]) => {
    setTyped(next)
    const whole = wholeOf(next)
    onValue(Object.keys(whole).length === 0 ? undefined : whole)
  }
  const repeated = pairs.find((_pair, place) => isRepeated(pairs, place))?.[0]
  const fault = repeated === undefined ? error : `${repeated} is there more than once; only the first is saved`
  const shown = fault ?? hint
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be drawn with a frame of its own
    <div role="group" aria-label={label} className="flex flex-col gap-2">
      <span aria-hidden="true" className="text-sm font-medium text-ink">
        {label}
      </span>
      {pairs.map(([name, text], place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pairs are known by their place
        <div key={place} className="flex items-center gap-2">
          <input
            aria-label={`${label}: name`}
            placeholder="Name"
            value={name}
            spellCheck={false}
            aria-invalid={isRepeated(pairs, place) || undefined}
            onChange={(event) => put(pairs.with(place, [event.target.value.trim(), text]))}
            className="field w-2/5! font-mono text-xs"
          />
          <input
            aria-label={`${label}: value`}
            placeholder="Value"
            value={text}
            spellCheck={false}
            onChange={(event) => put(pairs.with(place, [name, event.target.value]))}
            className="field min-w-0 flex-1 font-mono text-xs"
          />
          <IconButton
            name="trash"
            label={`Remove ${name === '' ? 'it' : name}`}
            onClick={() => put(pairs.toSpliced(place, 1))}
          />
        </div>
      ))}
      <div>
        <Button icon="plus" onClick={() => setTyped([...pairs, ['', '']])}>
          Add
        </Button>
      </div>
      {shown !== undefined && (
        <p
          role={fault === undefined ? undefined : 'alert'}
          className={`text-xs ${fault === undefined ? 'text-ink-3' : 'text-red'}`}
        >
          {shown}
        </p>
      )}
    </div>
  )
}

// Fields of a step as its schema describes them: each with the control of its kind, its limits, and what is wrong with it.
import type { ReactNode } from 'react'
import { useState } from 'react'
import { Button, IconButton, SelectField, TextField, Ticks, Toggle } from '../../ui/controls.tsx'
import { JsonField } from '../../ui/json-field.tsx'
import { TemplateField } from '../../ui/template-field.tsx'
import { ListField, PairsField, TimeField, ValueField } from '../../ui/value-fields.tsx'
import { Conditions } from './conditions.tsx'
import type { Json } from './draft.ts'
import { EmailContent } from './email-content.tsx'
import { FeedField, LayoutField } from './named-fields.tsx'
import type { Schema } from './schema.ts'
import { propertyOf } from './schema.ts'
import type { FieldProps, StepFormProps } from './step-fields.tsx'
import { errorAt, faultOf, useVariables, Variables } from './step-fields.tsx'
import type { FormField } from './step-plan.ts'
import { stepSchema } from './step-schemas.ts'
import { settingsForKind, settingsForUnit, valueAt, withValue } from './step-values.ts'

/** Two columns on a narrow screen, for amounts with their units; six on others. */
const widths = {
  whole: 'col-span-2 sm:col-span-6',
  half: 'col-span-2 sm:col-span-3',
  third: 'col-span-2 sm:col-span-2',
} as const
const amountWidths = { whole: 'col-span-1 sm:col-span-3', third: 'col-span-1 sm:col-span-2' } as const

export function SchemaFields({ fields, ...props }: StepFormProps & { fields: readonly FormField[] }) {
  if (fields.length === 0) return null
  return (
    <div className="grid grid-cols-2 gap-x-3 gap-y-4 sm:grid-cols-6">
      {fields.map((field) => {
        const { width } = field.presentation
        const key = field.path.join('.')
        return field.control === 'amount' ? (
          <Amount key={key} {...props} field={field} className={amountWidths[width === 'third' ? 'third' : 'whole']} />
        ) : (
          <div key={key} className={`min-w-0 ${widths[width ?? 'whole']}`}>
            <SchemaField {...props} field={field} />
          </div>
        )
      })}
    </div>
  )
}

function SchemaField(props: FieldProps): ReactNode {
  const { field, step, onChange } = props
  const { path, control, label, hint, presentation } = field
  const variables = useVariables()
  const value = valueAt(step, path)
  const text = typeof value === 'string' ? value : ''
  const name = path.join('.')
  const set = (next: unknown) => onChange(withValue(step, path, next))
  // Off is the same as left out where nothing was.
  const turn = (on: boolean) => set(on || (props.saved && valueAt(props.saved, path)) !== undefined ? on : undefined)
  const shared = { label, hint, error: faultOf(props), placeholder: presentation.placeholder }
  switch (control) {
    case 'words':
      return <TextField {...shared} value={text} onText={set} spellCheck={name === 'name'} />
    case 'template':
      return (
        <TemplateField
          label={label}
          hint={presentation.lines === undefined ? hint : <Variables />}
          error={shared.error}
          rows={presentation.lines ?? 1}
          variables={variables}
          value={text}
          onText={set}
        />
      )
    case 'number':
      return <NumberInput {...props} />
    case 'choice':
      return <ChoiceInput {...props} />
    case 'switch':
      return <Toggle label={label} hint={shared.error ?? hint} checked={value === true} onChange={turn} />
    case 'time':
      return <TimeField {...shared} value={text} onText={set} />
    case 'list':
      return (
        <ListField
          {...shared}
          values={Array.isArray(value) ? value : []}
          onValues={(next) => set(next.length === 0 ? undefined : next)}
        />
      )
    case 'ticks':
      return <TicksInput {...props} />
    case 'pairs':
      return <PairsField {...shared} value={(value ?? {}) as Record<string, string>} onValue={set} />
    case 'json':
      return <JsonInput {...props} />
    case 'value':
      return <ValueField {...shared} value={value} isText={isTextRow(props)} onValue={set} />
    case 'group':
      return <Group {...props} />
    case 'rows':
      return <Rows {...props} set={set} />
    case 'layout':
      return <LayoutField {...props} />
    case 'feed':
      return <FeedField {...props} />
    case 'blocks':
      return <EmailContent {...props} />
    case 'conditions':
      return (
        <Conditions
          filters={step.filters}
          earlier={props.earlier}
          errorOf={(at) => errorAt(props, `${name}.${at}`)}
          onChange={(filters) => onChange({ ...step, filters })}
        />
      )
    // An amount takes two places, and variants are forms of their own.
    case 'amount':
    case 'variants':
      return null
  }
}

/** Of a row that says of which type its value is. */
const isTextRow = ({ step, field: { path } }: FieldProps): boolean =>
  valueAt(step, [...path.slice(0, -1), 'type']) === 'String'

function JsonInput(props: FieldProps) {
  const { field, step, onChange } = props
  const value = valueAt(step, field.path) as Json | null | undefined
  // As it was when the form was opened: a field that is written in stays where it is.
  const [isOpen] = useState(value !== undefined && value !== null)
  return (
    <JsonField
      label={field.label}
      hint={field.hint}
      error={faultOf(props)}
      open={isOpen}
      value={value ?? {}}
      onValue={(next) => onChange(withValue(step, field.path, Object.keys(next).length === 0 ? undefined : next))}
      onValid={props.validityOf(field.path.join('.'))}
    />
  )
}

function NumberInput(props: FieldProps) {
  const { field, step, onChange } = props
  const { schema, presentation, path, label, hint } = field
  const value = valueAt(step, path)
  return (
    <TextField
      label={label}
      hint={hint}
      error={faultOf(props)}
      type="number"
      min={schema.minimum ?? 1}
      max={schema.maximum}
      placeholder={presentation.fallback}
      value={typeof value === 'number' ? String(value) : ''}
      onText={(text) => onChange(withValue(step, path, text === '' ? undefined : Number(text)))}
    />
  )
}

/** What is chosen decides, for some, which other settings there are. */
function afterChoice({ field, step }: FieldProps, value: string | undefined) {
  const metadata = step.metadata ?? {}
  const settings = propertyOf(stepSchema, 'metadata')
  switch (field.path.join('.')) {
    case 'metadata.type':
      return { ...step, metadata: settingsForKind(settings, step.template.type, value ?? '', metadata) }
    case 'metadata.unit':
      return { ...step, metadata: settingsForUnit(metadata, value ?? '') }
    default:
      return withValue(step, field.path, value)
  }
}

/** Settings that must be there have no way back to nothing. */
const alwaysThere = ['metadata.type', 'metadata.unit']

function ChoiceInput(props: FieldProps) {
  const { field, step, onChange } = props
  const { path, options, presentation, label, hint, isRequired } = field
  const value = valueAt(step, path)
  const shown = typeof value === 'string' ? value : (presentation.fallback ?? '')
  const isKnown = options.some(([one]) => one === shown)
  const isOptional = !isRequired && presentation.fallback === undefined && !alwaysThere.includes(path.join('.'))
  const other = isKnown || shown === '' ? [] : [[shown, shown] as const]
  return (
    <SelectField
      label={label}
      hint={hint}
      error={faultOf(props)}
      value={shown}
      options={[...(isOptional || shown === '' ? [['', '—'] as const] : []), ...options, ...other]}
      onText={(next) => onChange(afterChoice(props, next === '' ? undefined : next))}
    />
  )
}

function Amount({ className, ...props }: FieldProps & { className: string }) {
  const { field } = props
  return (
    <>
      <div className={className}>
        <NumberInput {...props} />
      </div>
      <div className={className}>{field.unit !== undefined && <ChoiceInput {...props} field={field.unit} />}</div>
    </>
  )
}

function TicksInput(props: FieldProps) {
  const { field, step, onChange } = props
  const { label, path, options } = field
  const chosen = (valueAt(step, path) ?? []) as readonly string[]
  const error = faultOf(props)
  return (
    <div className="flex flex-col gap-1">
      <span aria-hidden="true" className="text-sm font-medium">
        {label}
      </span>
      <Ticks
        label={label}
        options={options}
        chosen={chosen}
        onChange={(next) => {
          const inOrder = options.flatMap(([one]) => (next.includes(one) ? [one] : []))
          onChange(withValue(step, path, inOrder.length === 0 ? undefined : inOrder))
        }}
      />
      {error !== undefined && <p className="text-xs text-red">{error}</p>}
    </div>
  )
}

function Group({ field, ...props }: FieldProps) {
  const { label, hint, path, fields = [] } = field
  const error = errorAt(props, path.join('.'))
  return (
    <fieldset className="rounded-md border border-line p-3 pt-2">
      <legend className="-ml-1 px-1 text-sm font-medium">{label}</legend>
      {hint !== undefined && <p className="mb-3 text-xs text-ink-3">{hint}</p>}
      {error !== undefined && (
        <p role="alert" className="mb-3 text-xs text-red">
          {error}
        </p>
      )}
      <SchemaFields {...props} fields={fields} />
    </fieldset>
  )
}

/** A list of objects, each with the fields of its schema. */
function Rows({ field, set, ...props }: FieldProps & { set: (value: unknown) => void }) {
  const { label, hint, path, schema, fieldsOfRow } = field
  const found = valueAt(props.step, path)
  const rows: readonly unknown[] = Array.isArray(found) ? found : []
  const put = (next: readonly unknown[]) => set(next.length === 0 ? undefined : next)
  const error = errorAt(props, path.join('.'))
  const isFull = schema.maxItems !== undefined && rows.length >= schema.maxItems
  return (
    <section aria-label={label} className="flex flex-col gap-2">
      <h4 className="text-sm font-medium">{label}</h4>
      {rows.map((_row, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows are known by their place
        <div key={place} className="flex items-start gap-2 rounded-md border border-line p-3">
          <div className="min-w-0 flex-1">
            <SchemaFields {...props} fields={fieldsOfRow?.(place) ?? []} />
          </div>
          <IconButton
            name="trash"
            label={`Remove ${label}, ${place + 1}`}
            onClick={() => put(rows.toSpliced(place, 1))}
          />
        </div>
      ))}
      <div>
        <Button icon="plus" disabled={isFull} onClick={() => put([...rows, firstOf(schema.items?.properties ?? {})])}>
          Add
        </Button>
      </div>
      {(error ?? hint) !== undefined && (
        <p className={`text-xs ${error === undefined ? 'text-ink-3' : 'text-red'}`}>
          {error ?? (isFull ? `There are at most ${schema.maxItems}.` : hint)}
        </p>
      )}
    </section>
  )
}

/** A choice that is not made yet would be refused. */
const firstOf = (properties: NonNullable<Schema['properties']>): object =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, one]) => (one.enum?.[0] === undefined ? [] : [[name, one.enum[0]]])),
  )

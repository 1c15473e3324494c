// The form of a step: what it says, how long it waits, when it applies.
import { SelectField, TextField, Toggle } from '../../ui/controls.tsx'
import { Icon, iconOfStep, nameOfStep } from '../../ui/icons.tsx'
import { JsonField } from '../../ui/json-field.tsx'
import type { EarlierStep } from './condition-parts.ts'
import { Conditions } from './conditions.tsx'
import type { Json } from './draft.ts'
import { EmailForm } from './email-form.tsx'
import type { StepFormProps } from './step-fields.tsx'
import { errorAt } from './step-fields.tsx'
import { TextForm } from './text-form.tsx'
import { TimedForm } from './timed-form.tsx'
import { Variants } from './variants.tsx'

const messageTypes = ['email', 'in_app', 'sms', 'chat', 'push']

export function StepForm(props: StepFormProps & { earlier: readonly EarlierStep[] }) {
  const { step, earlier, mayChange, onChange } = props
  const { type } = step.template
  return (
    <>
      <header className="flex min-h-11 items-center gap-2 border-b border-line px-4">
        <Icon name={iconOfStep(type)} className="text-ink-2" />
        <h2 className="flex-1 font-semibold">{nameOfStep(type)}</h2>
        <Toggle
          label="On"
          checked={step.active}
          disabled={!mayChange}
          onChange={(active) => onChange({ ...step, active })}
        />
      </header>
      <fieldset disabled={!mayChange} className="flex flex-col gap-4 p-4">
        <TextField
          label="Name of the step"
          value={step.name}
          maxLength={255}
          onText={(name) => onChange({ ...step, name })}
        />
        {type === 'email' && <EmailForm {...props} />}
        {['in_app', 'sms', 'chat', 'push'].includes(type) && <TextForm {...props} />}
        {type === 'delay' && <DelayForm {...props} />}
        {type === 'digest' && <DigestForm {...props} />}
        {type === 'throttle' && <ThrottleForm {...props} />}
        {type === 'custom' && <CustomForm {...props} />}
        <Conditions filters={step.filters} earlier={earlier} onChange={(filters) => onChange({ ...step, filters })} />
        {messageTypes.includes(type) && <Variants {...props} />}
      </fieldset>
    </>
  )
}

const units = ['seconds', 'minutes', 'hours', 'days', 'weeks', 'months'].map((unit) => [unit, unit] as const)

function Duration({
  label,
  metadata,
  onChange,
  hint,
}: {
  label: string
  metadata: Json
  onChange: (members: Json) => void
  hint?: string
}) {
  return (
    <div className="grid grid-cols-2 gap-3">
      <TextField
        label={label}
        type="number"
        min={1}
        value={String(metadata.amount ?? '')}
        hint={hint}
        onText={(text) => onChange({ amount: text === '' ? undefined : Number(text) })}
      />
      <SelectField
        label="Unit"
        value={String(metadata.unit ?? 'minutes')}
        options={units}
        onText={(unit) => onChange({ unit })}
      />
    </div>
  )
}

function useMetadata({ step, onChange }: StepFormProps): [Json, (members: Json) => void] {
  const metadata = step.metadata ?? {}
  return [
    metadata,
    (members) =>
      onChange({
        ...step,
        metadata: Object.fromEntries(
          Object.entries({ ...metadata, ...members }).filter(([, value]) => value !== undefined && value !== ''),
        ),
      }),
  ]
}

/** A time of day comes every so many days, weeks or months. */
function begun(type: string, { unit, timed }: Json): Json {
  if (type !== 'timed') return { type }
  const isLong = ['days', 'weeks', 'months'].includes(String(unit))
  return { type, timed: timed ?? { atTime: '09:00' }, ...(isLong ? {} : { amount: 1, unit: 'days' }) }
}

function DelayForm(props: StepFormProps) {
  const [metadata, set] = useMetadata(props)
  const type = String(metadata.type ?? 'regular')
  return (
    <>
      <SelectField
        label="Waits"
        value={type}
        options={[
          ['regular', 'for a fixed time'],
          ['scheduled', 'until a time from the payload'],
          ['timed', 'until a time of day'],
          ['dynamic', 'for a duration from the payload'],
        ]}
        onText={(next) => set(begun(next, metadata))}
      />
      {type === 'regular' && <Duration label="For" metadata={metadata} onChange={set} />}
      {type === 'timed' && <TimedForm {...props} metadata={metadata} set={set} />}
      {type === 'scheduled' && (
        <TextField
          label="Payload field with the time"
          placeholder="sendAt"
          value={String(metadata.delayPath ?? '')}
          error={errorAt(props, 'metadata.delayPath')}
          onText={(delayPath) => set({ delayPath })}
        />
      )}
      {type === 'dynamic' && (
        <TextField
          label="Payload field with the duration"
          placeholder="payload.reminder"
          value={String(metadata.dynamicKey ?? '')}
          error={errorAt(props, 'metadata.dynamicKey')}
          onText={(dynamicKey) => set({ dynamicKey })}
        />
      )}
      <Rest {...props} />
    </>
  )
}

function DigestForm(props: StepFormProps) {
  const [metadata, set] = useMetadata(props)
  const type = String(metadata.type ?? 'regular')
  return (
    <>
      <SelectField
        label="Collects"
        value={type}
        options={[
          ['regular', 'for a fixed time after the first event'],
          ['backoff', 'only when events come quickly'],
          ['timed', 'until a time of day'],
        ]}
        onText={(next) => set(begun(next, metadata))}
      />
      {type === 'timed' ? (
        <TimedForm {...props} metadata={metadata} set={set} />
      ) : (
        <Duration label="For" metadata={metadata} onChange={set} />
      )}
      <TextField
        label="Collected by"
        hint="A member of the payload: events with another value are collected apart. Optional."
        value={String(metadata.digestKey ?? '')}
        onText={(digestKey) => set({ digestKey })}
      />
      <p className="text-xs text-ink-3">
        Steps after it see <code>{'{{ step.total_count }}'}</code> and <code>{'{% for event in step.events %}'}</code>.
      </p>
      <Rest {...props} />
    </>
  )
}

function ThrottleForm(props: StepFormProps) {
  const [metadata, set] = useMetadata(props)
  return (
    <>
      <TextField
        label="At most"
        type="number"
        min={1}
        hint="notifications for one person"
        value={String(metadata.threshold ?? 1)}
        onText={(text) => set({ threshold: Number(text) })}
      />
      <Duration label="Within" metadata={metadata} onChange={set} />
      <TextField
        label="Counted by"
        hint="A member of the payload. Optional."
        value={String(metadata.throttleKey ?? '')}
        onText={(throttleKey) => set({ throttleKey })}
      />
      <Rest {...props} />
    </>
  )
}

function CustomForm(props: StepFormProps) {
  const [metadata, set] = useMetadata(props)
  return (
    <>
      <TextField
        label="Address"
        type="url"
        value={String(metadata.url ?? '')}
        error={errorAt(props, 'metadata.url')}
        onText={(url) => set({ url })}
        hint="Receives the event. Later steps can use its response."
      />
      <SelectField
        label="Method"
        value={String(metadata.method ?? 'POST')}
        options={[
          ['POST', 'POST'],
          ['PUT', 'PUT'],
          ['PATCH', 'PATCH'],
        ]}
        onText={(method) => set({ method })}
      />
      <Toggle
        label="Go on when it fails"
        checked={metadata.continueOnFailure === true}
        onChange={(continueOnFailure) => set({ continueOnFailure })}
      />
      <Rest {...props} />
    </>
  )
}

/** Everything that the step's settings can hold, as JSON. */
function Rest(props: StepFormProps) {
  const { step, onChange, onValid } = props
  return (
    <JsonField
      label="All settings, as JSON"
      value={step.metadata ?? {}}
      onValue={(metadata) => onChange({ ...step, metadata })}
      onValid={onValid}
    />
  )
}

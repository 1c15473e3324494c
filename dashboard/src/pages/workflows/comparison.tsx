// One comparison of a condition: what it asks about decides which fields it has.
import { IconButton } from '../../ui/controls.tsx'
import type { EarlierStep, Part } from './condition-parts.ts'

type Options = readonly (readonly [value: string, shown: string])[]

const allSubjects: Options = [
  ['payload', 'Payload'],
  ['subscriber', 'Subscriber'],
  ['tenant', 'Tenant'],
  ['previousStep', 'An earlier step'],
  ['isOnline', 'Online now'],
  ['isOnlineInLast', 'Online lately'],
  ['webhook', 'Your own service'],
]
const operators: Options = [
  ['EQUAL', 'is'],
  ['NOT_EQUAL', 'is not'],
  ['LARGER', 'is more than'],
  ['LARGER_EQUAL', 'is at least'],
  ['SMALLER', 'is less than'],
  ['SMALLER_EQUAL', 'is at most'],
  ['BETWEEN', 'is between'],
  ['NOT_BETWEEN', 'is not between'],
  ['LIKE', 'contains'],
  ['NOT_LIKE', 'does not contain'],
  ['IN', 'is one of'],
  ['NOT_IN', 'is none of'],
  ['ANY_IN', 'has any of'],
  ['ALL_IN', 'has all of'],
]
const states: Options = [
  ['unread', 'was not read'],
  ['read', 'was read'],
  ['unseen', 'was not seen'],
  ['seen', 'was seen'],
  ['sent', 'was sent'],
  ['unsent', 'was not sent'],
]
const times: Options = [
  ['minutes', 'minutes'],
  ['hours', 'hours'],
  ['days', 'days'],
]
const placeholders: Readonly<Record<string, string>> = {
  payload: 'order.total',
  subscriber: 'data.plan',
  tenant: 'data.plan',
  webhook: 'allowed',
}
const examples: Readonly<Record<string, string>> = {
  BETWEEN: '10, 50',
  NOT_BETWEEN: '10, 50',
  IN: 'eu, us',
  NOT_IN: 'eu, us',
  ANY_IN: 'red, blue',
  ALL_IN: 'red, blue',
}

/** What its members are called on the page. */
export const wordsOfMembers: Readonly<Record<string, string>> = {
  on: 'What is compared',
  field: 'Member',
  operator: 'Comparison',
  value: 'Value',
  webhookUrl: 'Address that is asked',
  timeOperator: 'Unit',
  step: 'Which step',
  stepType: 'Its messages',
}

/** What a comparison starts with when it is about something else. */
function begun(on: string, before: Part, earlier: readonly EarlierStep[]): Part {
  if (on === 'isOnline') return { on, value: true }
  if (on === 'isOnlineInLast') return { on, value: 15, timeOperator: 'minutes' }
  if (on === 'previousStep') return { on, step: earlier[0]?.id ?? '', stepType: 'unread' }
  const compared = {
    field: before.field ?? '',
    operator: before.operator ?? 'EQUAL',
    value: String(before.value ?? ''),
  }
  return on === 'webhook' ? { on, webhookUrl: before.webhookUrl ?? 'https://', ...compared } : { on, ...compared }
}

export function Comparison({
  part,
  earlier,
  error,
  subjects,
  onChange,
}: {
  part: Part
  earlier: readonly EarlierStep[]
  error?: string | undefined
  /** What may be compared; everything when left out. */
  subjects?: readonly string[]
  onChange: (part: Part | undefined) => void
}) {
  const set = (members: Partial<Part>) => onChange({ ...part, ...members })
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Select
        label="What is compared"
        value={part.on}
        options={allSubjects.filter(([one]) => subjects === undefined || subjects.includes(one))}
        className="w-36"
        onText={(on) => onChange(begun(on, part, earlier))}
      />
      <Members part={part} earlier={earlier} set={set} />
      <IconButton name="trash" label="Remove the comparison" onClick={() => onChange(undefined)} className="ml-auto" />
      {error !== undefined && (
        <p role="alert" className="order-last basis-full text-xs text-red">
          {error}
        </p>
      )}
    </div>
  )
}

function Members({
  part,
  earlier,
  set,
}: {
  part: Part
  earlier: readonly EarlierStep[]
  set: (members: Partial<Part>) => void
}) {
  if (part.on === 'isOnline')
    return (
      <Select
        label="Online or not"
        value={String(part.value)}
        options={[
          ['true', 'is online'],
          ['false', 'is not online'],
        ]}
        className="min-w-36 flex-1"
        onText={(text) => set({ value: text === 'true' })}
      />
    )
  if (part.on === 'isOnlineInLast')
    return (
      <>
        <span className="text-ink-2">in the last</span>
        <Input
          label="How many"
          type="number"
          value={String(part.value ?? '')}
          className="w-20"
          onText={(text) => set({ value: Number(text) })}
        />
        <Select
          label="Unit"
          value={part.timeOperator ?? 'minutes'}
          options={times}
          className="w-28"
          onText={(timeOperator) => set({ timeOperator })}
        />
      </>
    )
  if (part.on === 'previousStep') {
    const known = earlier.map(({ id, name }) => [id, name] as const)
    const step = part.step ?? ''
    return (
      <>
        <Select
          label="Which step"
          value={step}
          options={known.some(([id]) => id === step) ? known : [[step, step || 'No earlier step'], ...known]}
          className="min-w-32 flex-1"
          onText={(next) => set({ step: next })}
        />
        <Select
          label="Its messages"
          value={part.stepType ?? 'unread'}
          options={states}
          className="min-w-32 flex-1"
          onText={(stepType) => set({ stepType })}
        />
      </>
    )
  }
  return (
    <>
      {part.on === 'webhook' && (
        <Input
          label="Address that is asked"
          placeholder="https://api.example.com/may-notify"
          value={part.webhookUrl ?? ''}
          className="basis-full sm:order-last"
          onText={(webhookUrl) => set({ webhookUrl })}
        />
      )}
      <Input
        label="Member"
        placeholder={placeholders[part.on] ?? 'plan'}
        value={part.field ?? ''}
        className="min-w-28 flex-1"
        onText={(field) => set({ field })}
      />
      <Select
        label="Comparison"
        value={part.operator ?? 'EQUAL'}
        options={operators}
        className="w-36"
        onText={(operator) => set({ operator })}
      />
      <Input
        label="Value"
        placeholder={examples[part.operator ?? ''] ?? 'Value'}
        value={String(part.value ?? '')}
        className="min-w-28 flex-1"
        onText={(value) => set({ value })}
      />
    </>
  )
}

function Select({
  label,
  value,
  options,
  className,
  onText,
}: {
  label: string
  value: string
  options: Options
  className: string
  onText: (text: string) => void
}) {
  return (
    <span className={className}>
      <select aria-label={label} value={value} onChange={(event) => onText(event.target.value)} className="field">
        {options.map(([one, shown]) => (
          <option key={one} value={one}>
            {shown}
          </option>
        ))}
      </select>
    </span>
  )
}

function Input({
  label,
  value,
  placeholder,
  type = 'text',
  className,
  onText,
}: {
  label: string
  value: string
  placeholder?: string
  type?: string
  className: string
  onText: (text: string) => void
}) {
  return (
    <span className={className}>
      <input
        aria-label={label}
        type={type}
        min={1}
        placeholder={placeholder}
        value={value}
        onChange={(event) => onText(event.target.value)}
        className="field"
      />
    </span>
  )
}

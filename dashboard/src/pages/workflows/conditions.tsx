// When a step applies: groups of comparisons, of which all or any must hold.
import { Button, IconButton } from '../../ui/controls.tsx'
import type { Json } from './draft.ts'

interface Part {
  readonly on: string
  readonly field?: string
  readonly operator?: string
  readonly value?: string | number | boolean
}
interface Group {
  readonly isNegated?: boolean
  readonly type: string
  readonly value: 'AND' | 'OR'
  readonly children: readonly Part[]
}

const subjects = [
  ['payload', 'Payload'],
  ['subscriber', 'Subscriber'],
  ['tenant', 'Tenant'],
] as const
const operators = [
  ['EQUAL', 'is'],
  ['NOT_EQUAL', 'is not'],
  ['LARGER', 'is more than'],
  ['LARGER_EQUAL', 'is at least'],
  ['SMALLER', 'is less than'],
  ['SMALLER_EQUAL', 'is at most'],
  ['LIKE', 'contains'],
  ['NOT_LIKE', 'does not contain'],
  ['IN', 'is one of'],
  ['NOT_IN', 'is none of'],
  ['ANY_IN', 'has any of'],
  ['ALL_IN', 'has all of'],
  ['BETWEEN', 'is between'],
  ['NOT_BETWEEN', 'is not between'],
] as const
const hasForm = (part: Part): boolean => subjects.some(([on]) => on === part.on)
const newPart: Part = { on: 'payload', field: '', operator: 'EQUAL', value: '' }

export function Conditions({ filters, onChange }: { filters: readonly Json[]; onChange: (filters: Json[]) => void }) {
  const groups = filters as unknown as readonly Group[]
  const put = (next: readonly Group[]) => onChange(next as unknown as Json[])
  const putGroup = (index: number, members: Partial<Group>) =>
    put(groups.map((group, place) => (place === index ? { ...group, ...members } : group)))
  return (
    <section aria-label="Conditions" className="flex flex-col gap-2 border-t border-line pt-4">
      <div className="flex items-center justify-between gap-2">
        <h3 className="font-medium">Conditions</h3>
        <Button
          icon="plus"
          onClick={() => put([...groups, { isNegated: false, type: 'GROUP', value: 'AND', children: [newPart] }])}
        >
          Condition
        </Button>
      </div>
      {groups.length === 0 && (
        <p className="text-ink-2">
          The step always applies. With a condition it is skipped for those whom it does not fit.
        </p>
      )}
      {groups.map((group, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: groups are known by their place
        <div key={index} className="flex flex-col gap-2 rounded-md border border-line p-3">
          <div className="flex flex-wrap items-center gap-2 text-ink-2">
            Applies when
            <select
              aria-label="Whether it is turned round"
              value={group.isNegated === true ? 'not' : ''}
              onChange={(event) => putGroup(index, { isNegated: event.target.value === 'not' })}
              className="field w-auto!"
            >
              <option value="">it holds that</option>
              <option value="not">it does not hold that</option>
            </select>
            <select
              aria-label="How many must hold"
              value={group.value}
              onChange={(event) => putGroup(index, { value: event.target.value as 'AND' })}
              className="field w-auto!"
            >
              <option value="AND">all of</option>
              <option value="OR">any of</option>
            </select>
            <IconButton
              name="trash"
              label="Remove the group"
              onClick={() => put(groups.toSpliced(index, 1))}
              className="ml-auto"
            />
          </div>
          {group.children.map((part, place) => (
            <Comparison
              // biome-ignore lint/suspicious/noArrayIndexKey: parts are known by their place
              key={place}
              part={part}
              onChange={(next) =>
                putGroup(index, {
                  children: next === undefined ? group.children.toSpliced(place, 1) : group.children.with(place, next),
                })
              }
            />
          ))}
          <div>
            <Button
              look="quiet"
              icon="plus"
              onClick={() => putGroup(index, { children: [...group.children, newPart] })}
            >
              Comparison
            </Button>
          </div>
        </div>
      ))}
    </section>
  )
}

function Comparison({ part, onChange }: { part: Part; onChange: (part: Part | undefined) => void }) {
  if (!hasForm(part)) {
    return (
      <div className="flex items-center gap-2">
        <code className="prose-mono min-w-0 flex-1 rounded bg-bg-2 px-2 py-1">{JSON.stringify(part)}</code>
        <IconButton name="trash" label="Remove the comparison" onClick={() => onChange(undefined)} />
      </div>
    )
  }
  return (
    <div className="grid grid-cols-2 gap-2 sm:grid-cols-[120px_minmax(0,1fr)_150px_minmax(0,1fr)_32px]">
      <select
        aria-label="What is compared"
        value={part.on}
        onChange={(event) => onChange({ ...part, on: event.target.value })}
        className="field"
      >
        {subjects.map(([value, shown]) => (
          <option key={value} value={value}>
            {shown}
          </option>
        ))}
      </select>
      <input
        aria-label="Member"
        placeholder="order.total"
        value={part.field ?? ''}
        onChange={(event) => onChange({ ...part, field: event.target.value })}
        className="field"
      />
      <select
        aria-label="Comparison"
        value={part.operator ?? 'EQUAL'}
        onChange={(event) => onChange({ ...part, operator: event.target.value })}
        className="field"
      >
        {operators.map(([value, shown]) => (
          <option key={value} value={value}>
            {shown}
          </option>
        ))}
      </select>
      <input
        aria-label="Value"
        placeholder="Value"
        value={String(part.value ?? '')}
        onChange={(event) => onChange({ ...part, value: event.target.value })}
        className="field"
      />
      <IconButton name="trash" label="Remove the comparison" onClick={() => onChange(undefined)} />
    </div>
  )
}

// When a step applies: groups of comparisons, of which all or any must hold.
import { Button, IconButton } from '../../ui/controls.tsx'
import { Comparison, wordsOfMembers } from './comparison.tsx'
import type { EarlierStep, Part } from './condition-parts.ts'
import type { Json } from './draft.ts'

interface Group {
  readonly isNegated?: boolean
  readonly type: string
  readonly value: 'AND' | 'OR'
  readonly children: readonly Part[]
}

const newPart: Part = { on: 'payload', field: '', operator: 'EQUAL', value: '' }
const newGroup: Group = { isNegated: false, type: 'GROUP', value: 'AND', children: [newPart] }
const readings = [
  ['GROUP', 'as they come'],
  ['TEXT', 'as text'],
  ['NUMBER', 'as numbers'],
  ['DATE', 'as dates'],
  ['BOOLEAN', 'as true or false'],
  ['LIST', 'as a list'],
  ['MULTI_LIST', 'as several lists'],
  ['STATEMENT', 'as a statement'],
] as const

export function Conditions({
  filters,
  earlier = [],
  title = 'Conditions',
  subjects,
  errorOf,
  none = 'The step always applies. With a condition it is skipped for those whom it does not fit.',
  onChange,
}: {
  filters: readonly Json[]
  earlier?: readonly EarlierStep[]
  title?: string
  /** What may be compared; everything when left out. */
  subjects?: readonly string[]
  /** What the service said of a part, by its path: `0.children.1.field`. */
  errorOf?: (path: string) => string | undefined
  /** What it means that there is no condition. */
  none?: string
  onChange: (filters: Json[]) => void
}) {
  const groups = filters as unknown as readonly Group[]
  const put = (next: readonly Group[]) => onChange(next as unknown as Json[])
  const putGroup = (index: number, members: Partial<Group>) =>
    put(groups.map((group, place) => (place === index ? { ...group, ...members } : group)))
  return (
    <section aria-label={title} className="flex flex-col gap-2 border-t border-line pt-4">
      <div className="flex items-center justify-between gap-2">
        <h3 className="font-medium">{title}</h3>
        <Button icon="plus" onClick={() => put([...groups, newGroup])}>
          {groups.length === 0 ? 'Condition' : 'Or another'}
        </Button>
      </div>
      {groups.length === 0 && <p className="text-ink-2">{none}</p>}
      {groups.map((group, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: groups are known by their place
        <div key={index} className="flex flex-col gap-2 rounded-md border border-line p-3">
          <GroupHead
            group={group}
            isFirst={index === 0}
            onChange={(members) => putGroup(index, members)}
            onRemove={() => put(groups.toSpliced(index, 1))}
          />
          {group.children.map((part, place) => (
            <Comparison
              // biome-ignore lint/suspicious/noArrayIndexKey: parts are known by their place
              key={place}
              part={part}
              earlier={earlier}
              error={errorOf === undefined ? undefined : faultOfPart(errorOf, `${index}.children.${place}`)}
              {...(subjects === undefined ? {} : { subjects })}
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

/** The first of its members that the service refused, with the name that it has on the page. */
function faultOfPart(errorOf: (path: string) => string | undefined, path: string): string | undefined {
  const whole = errorOf(path)
  if (whole !== undefined) return whole
  for (const [member, words] of Object.entries(wordsOfMembers)) {
    const error = errorOf(`${path}.${member}`)
    if (error !== undefined) return `${words}: ${error}`
  }
  return undefined
}

function GroupHead({
  group,
  isFirst,
  onChange,
  onRemove,
}: {
  group: Group
  isFirst: boolean
  onChange: (members: Partial<Group>) => void
  onRemove: () => void
}) {
  return (
    <div className="flex flex-wrap items-center gap-2 text-ink-2">
      {isFirst ? 'Applies when' : 'or when'}
      <select
        aria-label="Whether it is turned round"
        value={group.isNegated === true ? 'not' : ''}
        onChange={(event) => onChange({ isNegated: event.target.value === 'not' })}
        className="field w-auto!"
      >
        <option value="">it holds that</option>
        <option value="not">it does not hold that</option>
      </select>
      <select
        aria-label="How many must hold"
        value={group.value}
        onChange={(event) => onChange({ value: event.target.value as 'AND' })}
        className="field w-auto!"
      >
        <option value="AND">all of</option>
        <option value="OR">any of</option>
      </select>
      <label className="flex items-center gap-2">
        compared
        <select
          value={group.type}
          onChange={(event) => onChange({ type: event.target.value })}
          aria-label="How both sides are read"
          className="field w-auto!"
        >
          {readings.map(([value, shown]) => (
            <option key={value} value={value}>
              {shown}
            </option>
          ))}
        </select>
      </label>
      <IconButton name="trash" label="Remove the group" onClick={onRemove} className="ml-auto" />
    </div>
  )
}

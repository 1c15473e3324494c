// Filters as chips: what a list is filtered by, each removed by a click.
import { Button } from './controls.tsx'
import { Icon } from './icons.tsx'

export function FilterChip({ name, value, onRemove }: { name: string; value: string; onRemove: () => void }) {
  return (
    <button
      type="button"
      onClick={onRemove}
      // Whoever says what they see is understood: the words on it are in its name.
      aria-label={`Remove the filter ${name} ${value}`}
      className="inline-flex max-w-full items-center gap-1 rounded-full border border-line-2 px-2.5 py-0.5 text-xs hover:bg-bg-3"
    >
      <span className="text-ink-3">{name}</span> <span className="truncate">{value}</span>
      <Icon name="cross" size={10} />
    </button>
  )
}

/** How each filter is called, and how its value is shown. */
export type FilterWords = Readonly<Record<string, readonly [name: string, shown: (value: string) => string]>>

/** Those of an address that have words, and a value. */
export const filtersIn = (search: object, words: FilterWords): (readonly [name: string, value: string])[] =>
  Object.entries(search).flatMap(([name, value]) => (name in words && value !== '' ? [[name, String(value)]] : []))

export function FilterChips({
  filters,
  words,
  onRemove,
  onClear,
}: {
  filters: readonly (readonly [name: string, value: string])[]
  words: FilterWords
  onRemove: (name: string) => void
  onClear: () => void
}) {
  if (filters.length === 0) return null
  return (
    <div className="flex flex-wrap items-center gap-1.5">
      {filters.map(([name, value]) => (
        <FilterChip
          key={name}
          name={words[name]?.[0] ?? name}
          value={words[name]?.[1](value) ?? ''}
          onRemove={() => onRemove(name)}
        />
      ))}
      <Button look="quiet" onClick={onClear}>
        Clear
      </Button>
    </div>
  )
}

// Filters as chips: what a list is filtered by, each removed by a click.
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

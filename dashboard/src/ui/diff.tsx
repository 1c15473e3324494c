// A difference line by line: a sign and a colour for what went and what came.
import type { Schemas } from '../api.ts'

type Line = Schemas['DiffLine']

const looks: Readonly<Record<Line['kind'], string>> = {
  same: 'text-ink-2',
  added: 'bg-green-bg text-green',
  removed: 'bg-red-bg text-red',
}
const signs: Readonly<Record<Line['kind'], string>> = { same: ' ', added: '+', removed: '−' }

export function Diff({ lines, label }: { lines: readonly Line[]; label: string }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what is filled in
    <div
      role="group"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard
      tabIndex={0}
      className="prose-mono max-h-[60vh] overflow-auto rounded-md border border-line bg-bg py-1"
    >
      {lines.map(({ kind, text }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines are known by their place
        <div key={place} className={`flex gap-2 px-3 ${looks[kind]}`}>
          <span aria-hidden="true" className="w-3 shrink-0 select-none">
            {signs[kind]}
          </span>
          <span className="min-w-0 flex-1 whitespace-pre-wrap">
            {kind !== 'same' && <span className="sr-only">{kind === 'added' ? 'Added: ' : 'Removed: '}</span>}
            {text === '' ? ' ' : text}
          </span>
        </div>
      ))}
    </div>
  )
}

/** How much it is, in a few characters. */
export function DiffSize({ lines }: { lines: readonly Line[] }) {
  const count = (kind: Line['kind']) => lines.filter((line) => line.kind === kind).length
  return (
    <span className="text-xs whitespace-nowrap">
      <span className="text-green">+{count('added')}</span> <span className="text-red">−{count('removed')}</span>
      <span className="sr-only"> lines</span>
    </span>
  )
}

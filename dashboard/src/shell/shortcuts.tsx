// Keys for those who would rather not reach for the mouse: g and a letter to go somewhere, / to search, . for what is selected,
// ? for this list.
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useEnvironment } from '../session.tsx'
import { barKey, barStops } from '../ui/bulk-actions.ts'
import { Dialog } from '../ui/dialog.tsx'

const places: readonly (readonly [key: string, to: string, name: string])[] = [
  ['o', '', 'Overview'],
  ['a', '/activity', 'Activity'],
  ['m', '/activity/messages', 'Messages'],
  ['w', '/workflows', 'Workflows'],
  ['s', '/subscribers', 'Subscribers'],
  ['t', '/topics', 'Topics'],
  ['i', '/integrations', 'Integrations'],
  ['b', '/outbox', 'Outbox'],
  ['h', '/settings/health', 'Health'],
]
/** Lists search by words, the activity by person. */
const searchFields = 'main input[aria-label^="Search"], main input[aria-label^="Person"]'
/** Between g and the letter. */
const pauseMaxMs = 1_500

/** What is typed into a field is text; an editor may lie in a tree of its own. */
function isTyped(event: KeyboardEvent): boolean {
  const [target] = event.composedPath()
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.matches('input:not([type=checkbox]), textarea, select, [role=menuitem], [role=option]'))
  )
}

export function Shortcuts() {
  const navigate = useNavigate()
  const { slug } = useEnvironment()
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    let pressedAt = 0
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyped(event)) return
      if (document.querySelector('dialog[open]') !== null) return
      const isSecond = event.timeStamp - pressedAt < pauseMaxMs && pressedAt > 0
      pressedAt = event.key === 'g' ? event.timeStamp : 0
      const place = isSecond ? places.find(([key]) => key === event.key) : undefined
      if (place !== undefined) {
        event.preventDefault()
        void navigate({ to: `/${slug}${place[1]}` })
      } else if (event.key === '?') {
        event.preventDefault()
        setShown(true)
      } else if (event.key === '/') {
        const field = document.querySelector<HTMLInputElement>(searchFields)
        if (field === null) return
        event.preventDefault()
        field.focus()
      } else if (event.key === barKey) {
        // Of an action that does not apply, or that a narrow screen has in a menu, there is nothing to focus.
        const stop = [...document.querySelectorAll<HTMLElement>(barStops)].find((one) => one.checkVisibility())
        if (stop === undefined) return
        event.preventDefault()
        stop.focus()
      }
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [navigate, slug])
  if (!isShown) return null
  const rows: readonly (readonly [keys: readonly string[], does: string])[] = [
    [['Ctrl', 'K'], 'Search, and all commands'],
    [['/'], 'The search of this page'],
    [['j'], 'The next row'],
    [['k'], 'The row before'],
    [['Enter'], 'Open the row'],
    [['x'], 'Select the row; with Shift and an arrow the next one too'],
    [['Ctrl', 'A'], 'Select all rows that are loaded'],
    [[barKey], 'What to do with the selected rows'],
    [['Esc'], 'Select none'],
    ...places.map(([key, , name]) => [['g', key], `Go to ${name}`] as const),
    [['?'], 'This list'],
  ]
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => setShown(false)}>
      <dl className="grid grid-cols-[120px_minmax(0,1fr)] gap-y-2">
        {rows.map(([keys, does]) => (
          <div key={does} className="contents">
            <dt className="flex gap-1">
              {keys.map((key) => (
                <kbd key={key} className="rounded border border-line-2 px-1.5 font-mono text-xs leading-5 text-ink-2">
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

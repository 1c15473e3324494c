// What few need, folded away: made only once it is opened, and kept then, with what was typed in it.
import type { ReactNode } from 'react'
import { useState } from 'react'
import { Icon } from './icons.tsx'

/** `isOpen`: there is something in it that must be seen. */
export function Folded({
  label,
  isOpen = false,
  children,
}: {
  label: string
  isOpen?: boolean
  children: () => ReactNode
}) {
  const [opened, setOpened] = useState(false)
  const [isMade, setMade] = useState(false)
  if ((opened || isOpen) && !isMade) setMade(true)
  return (
    <details className="group/fold" open={opened || isOpen} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary className="inline-flex cursor-pointer list-none items-center gap-1 text-xs text-ink-2 hover:text-ink">
        <Icon name="right" size={10} className="transition-transform group-open/fold:rotate-90" />
        {label}
      </summary>
      {isMade && <div className="mt-3">{children()}</div>}
    </details>
  )
}

// Short news at the edge of the page: what was done, or what did not work.
import { useSyncExternalStore } from 'react'
import { Icon } from './icons.tsx'

interface Toast {
  readonly id: number
  readonly tone: 'good' | 'error'
  readonly text: string
}

const shownMs = 6_000
let toasts: readonly Toast[] = []
let last = 0
const listeners = new Set<() => void>()

function change(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

export function say(text: string, tone: Toast['tone'] = 'good'): void {
  last += 1
  const toast = { id: last, tone, text }
  change([...toasts.slice(-3), toast])
  setTimeout(() => change(toasts.filter((one) => one !== toast)), shownMs)
}

export const sayError = (error: Error): void => say(error.message, 'error')

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  return (
    <div
      aria-live="polite"
      className="pointer-events-none fixed right-4 bottom-4 z-50 flex max-w-[calc(100vw-32px)] flex-col gap-2"
    >
      {shown.map((toast) => (
        <div
          key={toast.id}
          className="card arrive pointer-events-auto flex max-w-md items-start gap-2 px-3 py-2 shadow-lg"
        >
          <Icon
            name={toast.tone === 'good' ? 'check' : 'warning'}
            className={`mt-0.5 ${toast.tone === 'good' ? 'text-green' : 'text-red'}`}
          />
          <span>{toast.text}</span>
        </div>
      ))}
    </div>
  )
}

// Short news at the edge of the page: what was done, or what did not work.
import { useState, useSyncExternalStore } from 'react'
import { copyText } from './clipboard.ts'
import { Icon } from './icons.tsx'

interface Undo {
  readonly text: string
  readonly onUndo: () => void
}

interface Toast {
  readonly id: number
  readonly tone: 'good' | 'warning' | 'error'
  readonly text: string
  /** Takes back what was done. */
  readonly undo: Undo | undefined
  /** Of a fault of the service: to be quoted. */
  readonly errorId: string | undefined
  /** Something that goes on: it stays until that is over. */
  readonly running?: { readonly part: number; readonly onStop: () => void }
}

export interface Running {
  /** From 0 to 1. */
  update(part: number): void
  end(): void
}

const shownMs = 6_000
/** To read it, to think, and to get there: for what can be acted on, and for what did not go well. */
const actShownMs = 12_000
const colours = { good: 'text-green', warning: 'text-amber', error: 'text-red' } as const
let toasts: readonly Toast[] = []
let last = 0
const listeners = new Set<() => void>()

function change(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

const dismiss = ({ id }: { readonly id: number }): void => change(toasts.filter((one) => one.id !== id))

/** What can be taken back belongs to the page it was done on: with that page, the offer goes. */
export const dropUndos = (): void => change(toasts.filter(({ undo }) => undo === undefined))

/** Answers with a way to take the news off the page before its time. */
export const say = (text: string, tone: Toast['tone'] = 'good', onUndo?: () => void): (() => void) =>
  show({ tone, text, undo: onUndo === undefined ? undefined : { text: 'Undo', onUndo }, errorId: undefined })

/** What goes on without its own page, with how far it is and a way to stop it. */
export function sayRunning(text: string, part: number, onStop: () => void): Running {
  last += 1
  const toast: Toast = { id: last, tone: 'good', text, undo: undefined, errorId: undefined, running: { part, onStop } }
  change([...toasts, toast])
  return {
    update: (now) =>
      change(toasts.map((one) => (one.id === toast.id ? { ...toast, running: { part: now, onStop } } : one))),
    end: () => dismiss(toast),
  }
}

function show(news: Omit<Toast, 'id'>): () => void {
  last += 1
  const toast = { ...news, id: last }
  const running = toasts.filter((one) => one.running !== undefined)
  const others = toasts.filter((one) => one.running === undefined)
  change([...running, ...others.slice(-3), toast])
  const isShort = news.tone === 'good' && news.undo === undefined
  setTimeout(() => dismiss(toast), isShort ? shownMs : actShownMs)
  return () => dismiss(toast)
}

/** With what to quote, where the fault is the service's own. */
export function sayError(error: Error): void {
  const { errorId } = error as { errorId?: string }
  show({ tone: 'error', text: error.message, undo: undefined, errorId })
}

function CopyError({ errorId }: { errorId: string }) {
  const [isCopied, setCopied] = useState(false)
  return (
    <button
      type="button"
      title={`Copy ${errorId}`}
      className="link shrink-0 font-medium"
      onClick={() => void copyText(errorId).then(setCopied)}
    >
      {isCopied ? 'Copied' : 'Copy the error id'}
    </button>
  )
}

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
      className="news pointer-events-none fixed right-4 bottom-4 z-50 flex max-w-[calc(100vw-32px)] flex-col gap-2"
    >
      {shown.map((toast) => (
        <div
          key={toast.id}
          className="card arrive pointer-events-auto flex max-w-md items-start gap-2 px-3 py-2 shadow-lg"
        >
          <Icon
            name={toast.running !== undefined ? 'clock' : toast.tone === 'good' ? 'check' : 'warning'}
            className={`mt-0.5 ${toast.running !== undefined ? 'text-blue' : colours[toast.tone]}`}
          />
          <span>
            {toast.text}
            {toast.running !== undefined && (
              <progress aria-label={toast.text} className="block w-full" value={toast.running.part} max={1} />
            )}
          </span>
          {toast.running !== undefined && (
            <button type="button" className="link shrink-0 font-medium" onClick={toast.running.onStop}>
              Stop
            </button>
          )}
          {toast.errorId !== undefined && <CopyError errorId={toast.errorId} />}
          {toast.undo !== undefined && (
            <button
              type="button"
              className="link shrink-0 font-medium"
              onClick={() => {
                dismiss(toast)
                toast.undo?.onUndo()
              }}
            >
              {toast.undo.text}
            </button>
          )}
        </div>
      ))}
    </div>
  )
}

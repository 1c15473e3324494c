// Dialogs on the browser's own element: it keeps the focus, closes by Escape and needs no script of others.
import type { ReactNode } from 'react'
import { useEffect, useId, useRef, useState } from 'react'
import { Button, IconButton, TextField } from './controls.tsx'
import { Code } from './copy.tsx'
import { Fault, Notice } from './page.tsx'

export function Dialog({
  title,
  onClose,
  children,
  footer,
  width = 'max-w-lg',
}: {
  title: string
  onClose: () => void
  children: ReactNode
  footer?: ReactNode
  width?: string
}) {
  const element = useRef<HTMLDialogElement>(null)
  // Before it is drawn: a menu that opens it is gone right after.
  const [opener] = useState(openedBy)
  useEffect(() => {
    const dialog = element.current
    if (dialog !== null && !dialog.open) dialog.showModal()
    // The browser would take the button that closes it, which comes first.
    dialog?.querySelector<HTMLElement>('input, textarea, select')?.focus()
    return () => {
      // The browser returns the focus only from a dialog that stays in the page.
      const isLost = document.activeElement === document.body || dialog?.contains(document.activeElement) === true
      if (isLost && opener?.isConnected === true) opener.focus({ preventScroll: true })
    }
  }, [opener])
  return (
    <dialog
      ref={element}
      aria-label={title}
      onClose={onClose}
      onCancel={onClose}
      onClick={(event) => event.target === element.current && onClose()}
      onKeyDown={(event) => event.stopPropagation()}
      className={`card w-[calc(100vw-24px)] ${width} p-0 shadow-2xl`}
    >
      <div className="flex max-h-[85vh] flex-col">
        <header className="flex items-center justify-between border-b border-line py-2 pr-2 pl-4">
          <h2 className="font-semibold">{title}</h2>
          <IconButton name="cross" label="Close" onClick={onClose} />
        </header>
        <div className="overflow-y-auto p-4">{children}</div>
        {footer !== undefined && (
          <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-4 py-3">{footer}</footer>
        )}
      </div>
    </dialog>
  )
}

/** What has the focus; of an entry of a menu, the button of the menu. */
function openedBy(): HTMLElement | undefined {
  const one = document.activeElement
  const menu = one?.closest('[role=menu]')
  const from = menu == null ? one : document.getElementById(menu.getAttribute('aria-labelledby') ?? '')
  return from instanceof HTMLElement ? from : undefined
}

/** What cannot be undone is confirmed by typing its name. */
export function ConfirmByTyping({
  title,
  word,
  action,
  busy,
  onConfirm,
  onClose,
  children,
}: {
  title: string
  word: string
  action: string
  busy: boolean
  onConfirm: () => void
  onClose: () => void
  children: ReactNode
}) {
  const [typed, setTyped] = useState('')
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button look="danger" disabled={typed !== word} busy={busy} onClick={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <div className="text-ink-2">{children}</div>
        <TextField label={`Type ${word} to confirm`} value={typed} onText={setTyped} autoComplete="off" autoFocus />
      </div>
    </Dialog>
  )
}

/** Fields and the one button that sends them: also by Enter. */
export function FormDialog({
  title,
  action,
  busy,
  disabled = false,
  error,
  width,
  onSubmit,
  onClose,
  children,
}: {
  title: string
  action: string
  busy: boolean
  disabled?: boolean
  error: Error | null
  width?: string
  onSubmit: () => void
  onClose: () => void
  children: ReactNode
}) {
  const form = useId()
  return (
    <Dialog
      title={title}
      onClose={onClose}
      {...(width === undefined ? {} : { width })}
      footer={
        <>
          <Button onClick={onClose}>Discard</Button>
          <Button look="primary" type="submit" form={form} busy={busy} disabled={disabled}>
            {action}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          if (!disabled && !busy) onSubmit()
        }}
      >
        <Fault error={error} />
        {children}
      </form>
    </Dialog>
  )
}

/** A secret just after it was made: mostly the one time that it is shown. */
export function ShownOnce({
  what,
  secret,
  isReadable = false,
  children,
  onClose,
}: {
  what: string
  secret: string
  /** A page shows it later as well. */
  isReadable?: boolean
  children?: ReactNode
  onClose: () => void
}) {
  return (
    <Dialog
      title={`Copy the ${what} now`}
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          I have it
        </Button>
      }
    >
      <div className="flex flex-col gap-3">
        {!isReadable && <Notice tone="warning">It is shown only this once.</Notice>}
        <Code label={what} text={secret} />
        {children !== undefined && <p className="text-ink-2">{children}</p>}
      </div>
    </Dialog>
  )
}

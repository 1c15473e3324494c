// Dialogs on the browser's own element: it keeps the focus, closes by Escape and needs no script of others.
import type { ReactNode } from 'react'
import { useEffect, useRef, useState } from 'react'
import { Button, IconButton, TextField } from './controls.tsx'

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
  useEffect(() => {
    const dialog = element.current
    if (dialog !== null && !dialog.open) dialog.showModal()
    // The browser would take the button that closes it, which comes first.
    dialog?.querySelector<HTMLElement>('input, textarea, select')?.focus()
  }, [])
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

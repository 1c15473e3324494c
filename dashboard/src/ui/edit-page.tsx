// The skeleton of every page that edits one record: save, discard, delete by typing its name, and what to know before saving.
import type { ReactNode } from 'react'
import { useState } from 'react'
import { Button } from './controls.tsx'
import { ConfirmByTyping } from './dialog.tsx'
import type { Edits } from './edits.ts'
import { BackTo } from './list.tsx'
import { Fault, Notice, Page } from './page.tsx'

export interface Saving {
  readonly isPending: boolean
  readonly error: Error | null
}

/** `what`: a word for the record. */
export const Overtaken = ({ what }: { what: string }) => (
  <Notice tone="warning">
    Someone else saved this {what} while you were editing. Saving overwrites their change; discarding shows it.
  </Notice>
)

/** Why a save was refused, and whose change it would overwrite. While a save is under way, a newer record is one's own. */
export function SaveNotices({ what, isOvertaken, save }: { what: string; isOvertaken: boolean; save: Saving }) {
  return (
    <>
      <Fault error={save.error} />
      {isOvertaken && !save.isPending && <Overtaken what={what} />}
    </>
  )
}

export function SaveButtons({
  isChanged,
  isValid = true,
  save,
  onSave,
  onDiscard,
}: {
  isChanged: boolean
  isValid?: boolean
  save: Saving
  onSave: () => void
  onDiscard: () => void
}) {
  return (
    <>
      {(isChanged || !isValid) && (
        <Button look="quiet" onClick={onDiscard}>
          Discard
        </Button>
      )}
      <Button look="primary" icon="check" disabled={!isChanged || !isValid} busy={save.isPending} onClick={onSave}>
        Save
      </Button>
    </>
  )
}

interface Removal {
  /** What is typed to confirm it. */
  readonly word: string
  /** What follows from it. */
  readonly means: string
  readonly isPending: boolean
  readonly onConfirm: () => void
}

export function DeleteByTyping({ what, of, onClose }: { what: string; of: Removal; onClose: () => void }) {
  return (
    <ConfirmByTyping
      title={`Delete the ${what}`}
      word={of.word}
      action="Delete"
      busy={of.isPending}
      onConfirm={of.onConfirm}
      onClose={onClose}
    >
      {of.means}
    </ConfirmByTyping>
  )
}

export function EditPage<Fields>({
  what,
  title,
  lead,
  list,
  wide,
  mayChange,
  actions,
  edits,
  isValid,
  save,
  remove,
  children,
}: {
  what: string
  title: string
  lead?: ReactNode
  /** Where it was opened from. */
  list: { readonly to: string; readonly name: string }
  wide?: boolean
  mayChange: boolean
  /** Beside saving and deleting. */
  actions?: ReactNode
  edits: Edits<Fields>
  isValid?: boolean
  save: Saving & { mutate(sent: Partial<Fields>): void; reset(): void }
  remove: Removal
  children: ReactNode
}) {
  const [deleting, setDeleting] = useState(false)
  return (
    <Page
      title={title}
      lead={lead}
      above={<BackTo to={list.to}>{list.name}</BackTo>}
      {...(wide === undefined ? {} : { wide })}
      actions={
        mayChange && (
          <>
            {actions}
            <Button look="danger" icon="trash" onClick={() => setDeleting(true)}>
              Delete
            </Button>
            <SaveButtons
              isChanged={edits.isChanged}
              {...(isValid === undefined ? {} : { isValid })}
              save={save}
              onSave={() => save.mutate(edits.changed)}
              onDiscard={() => {
                edits.discard()
                save.reset()
              }}
            />
          </>
        )
      }
    >
      <SaveNotices what={what} isOvertaken={edits.isOvertaken} save={save} />
      {children}
      {deleting && <DeleteByTyping what={what} of={remove} onClose={() => setDeleting(false)} />}
    </Page>
  )
}

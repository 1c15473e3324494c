// What a workflow is called, and the rules that hold for all of it.
import { TextArea, TextField, Toggle } from '../../ui/controls.tsx'
import type { Draft } from './draft.ts'

export function GeneralForm({
  draft,
  mayChange,
  onChange,
}: {
  draft: Draft
  mayChange: boolean
  onChange: (draft: Draft) => void
}) {
  return (
    <>
      <header className="flex min-h-11 items-center border-b border-line px-4">
        <h2 className="font-semibold">Trigger</h2>
      </header>
      <fieldset disabled={!mayChange} className="flex flex-col gap-4 p-4">
        <TextField label="Name" value={draft.name} maxLength={255} onText={(name) => onChange({ ...draft, name })} />
        <TextArea
          label="Description"
          hint="For your colleagues; people who are notified never see it."
          rows={2}
          value={draft.description}
          onText={(description) => onChange({ ...draft, description })}
        />
        <TextField
          label="Tags"
          hint="Separated by commas. Inboxes can show notifications by them."
          value={draft.tags.join(', ')}
          onText={(text) =>
            onChange({ ...draft, tags: text === '' ? [] : text.split(',').map((tag) => tag.trimStart()) })
          }
        />
        <Toggle
          label="Critical"
          hint="It is sent whatever people prefer."
          checked={draft.critical}
          onChange={(critical) => onChange({ ...draft, critical })}
        />
      </fieldset>
    </>
  )
}

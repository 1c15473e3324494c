// The filters of the activity that are needed less often.
import { useState } from 'react'
import { SelectField, TextField } from '../../ui/controls.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { isTime, localInput, zone } from '../../ui/time.tsx'
import type { ActivitySearch } from './search.ts'

const texts = [
  ['email', 'E-mail address', 'ada@example.com', 'Exactly this one.'],
  ['transactionId', 'Transaction id', 'order-7-shipped', 'Of the event.'],
  ['topic', 'Topic', 'release-notes', 'Whoever was reached through it, by its key.'],
  ['context', 'Contexts', 'workspace:acme', 'Exactly these, as type:id, with commas between.'],
] as const

export function MoreFilters({
  search,
  onApply,
  onClose,
}: {
  search: ActivitySearch
  onApply: (search: ActivitySearch) => void
  onClose: () => void
}) {
  // An address may hold any text; a field for times shows only times, and what it does not show is not applied.
  const [values, setValues] = useState<ActivitySearch>(() =>
    Object.fromEntries(
      Object.entries(search).filter(
        ([name, value]) => !(name === 'after' || name === 'before') || (value !== undefined && isTime(value)),
      ),
    ),
  )
  const set = (name: string, value: string | undefined) => setValues({ ...values, [name]: value })
  const apply = () =>
    onApply(
      Object.fromEntries(
        Object.entries(values).flatMap(([name, value]) => (value?.trim() ? [[name, value.trim()]] : [])),
      ),
    )
  return (
    <FormDialog title="More filters" action="Apply" busy={false} error={null} onSubmit={apply} onClose={onClose}>
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        {texts.map(([name, label, placeholder, hint]) => (
          <TextField
            key={name}
            label={label}
            placeholder={placeholder}
            hint={hint}
            value={values[name] ?? ''}
            maxLength={255}
            onText={(text) => set(name, text)}
          />
        ))}
        <SelectField
          label="Severity"
          value={values.severity ?? ''}
          options={[
            ['', 'Any'],
            ['high', 'High'],
            ['medium', 'Medium'],
            ['low', 'Low'],
            ['none', 'None'],
          ]}
          onText={(text) => set('severity', text)}
        />
        <span className="max-sm:hidden" />
        {(['after', 'before'] as const).map((name) => (
          <TextField
            key={name}
            label={name === 'after' ? 'Since' : 'Until'}
            type="datetime-local"
            hint={`In ${zone}.`}
            value={values[name] === undefined ? '' : localInput(new Date(values[name]).getTime())}
            onText={(text) => set(name, isTime(text) ? new Date(text).toISOString() : undefined)}
          />
        ))}
      </div>
    </FormDialog>
  )
}

// The form of an account: its fields come from the provider's own catalogue entry; when it is used and how fast is the same for all.
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { ApiError, answerOf, client } from '../../api.ts'
import { useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Button, SelectField, TextField, Toggle } from '../../ui/controls.tsx'
import { SaveNotices } from '../../ui/edit-page.tsx'
import { useEdits } from '../../ui/edits.ts'
import type { Json } from '../workflows/condition-parts.ts'
import { wholeFilters } from '../workflows/condition-parts.ts'
import { Conditions } from '../workflows/conditions.tsx'

type Integration = Schemas['Integration']
type Provider = Schemas['Provider']
type Values = Record<string, string | boolean>

/** What a message of an integration can be chosen by. */
const subjects = ['payload', 'subscriber', 'tenant']

interface Fields {
  readonly name: string
  readonly active: boolean
  readonly values: Values
  readonly conditions: Json[]
  /** As it stands in its field: empty means no limit. */
  readonly perSecond: string
}

function fieldsOf(provider: Provider, integration: Integration | undefined): Fields {
  const before = (integration?.credentials ?? {}) as Record<string, unknown>
  const values = provider.credentials.map(({ key, type }) => [
    key,
    type === 'boolean'
      ? before[key] === true
      : type === 'object'
        ? JSON.stringify(before[key] ?? '')
        : String(before[key] ?? ''),
  ])
  return {
    name: integration?.name ?? provider.name,
    active: integration?.active ?? true,
    values: Object.fromEntries(values),
    conditions: wholeFilters(integration?.conditions),
    perSecond: String(integration?.configurations?.maxPerSecond ?? ''),
  }
}

function bodyOf(provider: Provider, integration: Integration | undefined, fields: Fields, check: boolean) {
  const { name, active, values, conditions, perSecond } = fields
  const credentials = provider.credentials.flatMap(({ key, type }) => {
    const value = values[key]
    if (value === '' || value === undefined || value === '""') return []
    return [[key, type === 'object' ? parsed(String(value)) : value]]
  })
  const maxPerSecond = perSecond.trim() === '' ? null : Number(perSecond)
  const isLimitKept = maxPerSecond === (integration?.configurations?.maxPerSecond ?? null)
  return {
    name,
    active,
    check: check && active,
    credentials: Object.fromEntries(credentials),
    ...(JSON.stringify(conditions) === JSON.stringify(wholeFilters(integration?.conditions)) ? {} : { conditions }),
    // They are replaced as a whole.
    ...(isLimitKept ? {} : { configurations: { ...integration?.configurations, maxPerSecond } }),
  }
}

export function AccountForm({ provider, integration }: { provider: Provider; integration: Integration | undefined }) {
  const go = useGo()
  const mayChange = useMayChange()
  const edits = useEdits(fieldsOf(provider, integration))
  const { name, active, values, conditions, perSecond } = edits.values
  const [check, setCheck] = useState(provider.canCheck)
  const save = useChange(
    (_sent: Partial<Fields>): Promise<unknown> => {
      const body = bodyOf(provider, integration, edits.values, check)
      const { providerId, channel } = provider
      return integration === undefined
        ? answerOf(client.POST('/v1/integrations', { body: { providerId, channel, ...body } as never }))
        : answerOf(
            client.PUT('/v1/integrations/{integrationId}', {
              params: { path: { integrationId: integration._id } },
              body: body as never,
            }),
          )
    },
    {
      touches: ['integrations'],
      says: integration === undefined ? 'The integration is added' : 'The integration is saved',
      quiet: true,
      onDone: (made, sent) =>
        integration === undefined ? go(`/integrations/${(made as Integration)._id}`) : edits.settle(sent),
    },
  )
  const errors = save.error instanceof ApiError ? save.error.fields : {}
  return (
    <form
      className="card"
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate(edits.changed)
      }}
    >
      <header className="flex min-h-11 items-center border-b border-line px-4">
        <h2 className="text-sm font-semibold">Account</h2>
      </header>
      <fieldset disabled={!mayChange} className="flex flex-col gap-4 p-4">
        <SaveNotices what="integration" isOvertaken={edits.isOvertaken} save={save} />
        <div className="grid grid-cols-1 items-start gap-4 sm:grid-cols-2">
          <TextField label="Name" value={name} maxLength={255} onText={(next) => edits.set({ name: next })} />
          {provider.credentials.map((field) => (
            <Credential
              key={field.key}
              field={field}
              value={values[field.key] ?? ''}
              error={errors[`credentials.${field.key}`]}
              onValue={(value) => edits.set({ values: { ...values, [field.key]: value } })}
            />
          ))}
        </div>
        <Conditions
          filters={conditions}
          subjects={subjects}
          none="It takes every message of its channel. With a condition it takes those that fit, before the primary one does."
          onChange={(next) => edits.set({ conditions: next })}
        />
        <div className="flex flex-col gap-4 border-t border-line pt-4">
          <TextField
            label="Messages per second, at most (optional)"
            hint="Over all nodes together. What is more waits its turn."
            type="number"
            min="0"
            step="any"
            inputMode="decimal"
            error={errors['configurations.maxPerSecond']}
            value={perSecond}
            className="max-w-40"
            onText={(next) => edits.set({ perSecond: next })}
          />
          <Toggle
            label="On"
            hint="Messages may go out by it."
            checked={active}
            onChange={(on) => edits.set({ active: on })}
          />
          {provider.canCheck && (
            <Toggle
              label="Check the account when saving"
              hint="Asks the provider whether it takes these credentials; nothing is sent."
              checked={check}
              onChange={setCheck}
            />
          )}
        </div>
      </fieldset>
      {mayChange && (
        <footer className="flex flex-wrap items-center gap-2 border-t border-line px-4 py-3">
          <a href={provider.docsUrl} target="_blank" rel="noreferrer" className="link mr-auto text-xs">
            {provider.name}’s documentation
          </a>
          {integration !== undefined && edits.isChanged && (
            <Button look="quiet" onClick={edits.discard}>
              Discard
            </Button>
          )}
          <Button type="submit" look="primary" busy={save.isPending}>
            {integration === undefined ? 'Add' : 'Save'}
          </Button>
        </footer>
      )}
    </form>
  )
}

function Credential({
  field,
  value,
  error,
  onValue,
}: {
  field: Provider['credentials'][number]
  value: string | boolean
  error: string | undefined
  onValue: (value: string | boolean) => void
}) {
  const label = field.required ? field.label : `${field.label} (optional)`
  const hint = field.description === undefined ? undefined : <WithCode text={field.description} />
  if (field.type === 'boolean')
    return <Toggle label={field.label} hint={hint} checked={value === true} onChange={onValue} />
  if (field.choices !== undefined && field.choices.length > 0)
    return (
      <SelectField
        label={label}
        hint={hint}
        error={error}
        value={String(value)}
        options={[['', '–'], ...field.choices.map((one) => [one, one] as const)]}
        onText={onValue}
      />
    )
  return (
    <TextField
      label={label}
      hint={hint}
      error={error}
      type={field.secret ? 'password' : 'text'}
      autoComplete="off"
      placeholder={field.placeholder}
      value={String(value)}
      onText={onValue}
    />
  )
}

/** What stands between backticks is code. */
const WithCode = ({ text }: { text: string }) => (
  <>
    {text.split('`').map((part, index) =>
      index % 2 === 0 ? (
        part
      ) : (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text
        <code key={index} className="font-mono">
          {part}
        </code>
      ),
    )}
  </>
)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

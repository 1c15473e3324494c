// An account at a provider: its form comes from the provider's own catalogue entry.
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { ApiError, answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { EnvLink, useGo } from '../../env-link.tsx'
import { useEnvironment, useMayChange } from '../../session.tsx'
import { Button, SelectField, TextField, Toggle } from '../../ui/controls.tsx'
import { Code } from '../../ui/copy.tsx'
import { ConfirmByTyping } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Answered, Notice, Page, Section } from '../../ui/page.tsx'
import { Badge } from '../../ui/status.tsx'
import { serviceUrl } from '../activity/curl.ts'

type Integration = Schemas['Integration']
type Provider = Schemas['Provider']
type Values = Record<string, string | boolean>

const Back = () => (
  <EnvLink to="/integrations" className="mb-1 inline-flex items-center gap-1 text-xs text-ink-2 hover:text-ink">
    <Icon name="left" size={10} /> Integrations
  </EnvLink>
)

export function NewIntegrationPage() {
  const { providerId = '' } = useParams({ strict: false }) as { providerId?: string }
  const providers = useAsk(['providers'], () => answerOf(client.GET('/v1/providers')))
  const provider = providers.data?.find((one) => one.providerId === providerId)
  return (
    <Page title={provider === undefined ? providerId : `Add ${provider.name}`} above={<Back />} wide={false}>
      <Answered of={providers}>
        {() =>
          provider === undefined ? (
            <Notice tone="error">There is no provider {providerId}.</Notice>
          ) : (
            <AccountForm key={provider.providerId} provider={provider} integration={undefined} />
          )
        }
      </Answered>
    </Page>
  )
}

export function IntegrationPage() {
  const { integrationId = '' } = useParams({ strict: false }) as { integrationId?: string }
  const path = { integrationId }
  const integration = useAsk(['integrations', 'one', integrationId], () =>
    answerOf(client.GET('/v1/integrations/{integrationId}', { params: { path } })),
  )
  const providers = useAsk(['providers'], () => answerOf(client.GET('/v1/providers')))
  const provider = providers.data?.find((one) => one.providerId === integration.data?.providerId)
  return (
    <Page
      title={integration.data?.name ?? 'Integration'}
      lead={provider?.name}
      above={<Back />}
      wide={false}
      actions={integration.data === undefined ? undefined : <AccountActions integration={integration.data} />}
    >
      <Answered of={integration}>
        {(one) =>
          provider === undefined ? null : <AccountForm key={one.updatedAt} provider={provider} integration={one} />
        }
      </Answered>
    </Page>
  )
}

function AccountActions({ integration }: { integration: Integration }) {
  const go = useGo()
  const mayChange = useMayChange()
  const [deleting, setDeleting] = useState(false)
  const path = { integrationId: integration._id }
  const elect = useChange(
    () => answerOf(client.POST('/v1/integrations/{integrationId}/set-primary', { params: { path } })),
    { touches: ['integrations'], says: 'It is the primary one of its channel now' },
  )
  const remove = useChange(() => answerOf(client.DELETE('/v1/integrations/{integrationId}', { params: { path } })), {
    touches: ['integrations'],
    says: 'The integration is deleted',
    leaves: true,
    onDone: () => go('/integrations'),
  })
  if (!mayChange) return null
  return (
    <>
      {integration.primary && <Badge tone="blue">Primary</Badge>}
      {!integration.primary && integration.active && ['email', 'sms'].includes(integration.channel) && (
        <Button busy={elect.isPending} onClick={() => elect.mutate(undefined)}>
          Make it primary
        </Button>
      )}
      <Button look="danger" icon="trash" onClick={() => setDeleting(true)}>
        Delete
      </Button>
      {deleting && (
        <ConfirmByTyping
          title="Delete the integration"
          word={integration.name ?? integration.identifier}
          action="Delete"
          busy={remove.isPending}
          onConfirm={() => remove.mutate(undefined)}
          onClose={() => setDeleting(false)}
        >
          Messages go out by the other accounts of the channel; without any, its steps fail.
        </ConfirmByTyping>
      )}
    </>
  )
}

function AccountForm({ provider, integration }: { provider: Provider; integration: Integration | undefined }) {
  const go = useGo()
  const mayChange = useMayChange()
  const { id: environmentId } = useEnvironment()
  const before = (integration?.credentials ?? {}) as Record<string, unknown>
  const [name, setName] = useState(integration?.name ?? provider.name)
  const [active, setActive] = useState(integration?.active ?? true)
  const [check, setCheck] = useState(provider.canCheck)
  const [values, setValues] = useState<Values>(
    Object.fromEntries(
      provider.credentials.map(({ key, type }) => [
        key,
        type === 'boolean'
          ? before[key] === true
          : type === 'object'
            ? JSON.stringify(before[key] ?? '')
            : String(before[key] ?? ''),
      ]),
    ),
  )
  const body = () => ({
    name,
    active,
    check: check && active,
    credentials: Object.fromEntries(
      provider.credentials.flatMap(({ key, type }) => {
        const value = values[key]
        if (value === '' || value === undefined || value === '""') return []
        return [[key, type === 'object' ? parsed(String(value)) : value]]
      }),
    ),
  })
  const save = useChange(
    () =>
      integration === undefined
        ? answerOf(
            client.POST('/v1/integrations', {
              body: { providerId: provider.providerId, channel: provider.channel, ...body() } as never,
            }),
          )
        : answerOf(
            client.PUT('/v1/integrations/{integrationId}', {
              params: { path: { integrationId: integration._id } },
              body: body() as never,
            }),
          ),
    {
      touches: ['integrations'],
      says: integration === undefined ? 'The integration is added' : 'The integration is saved',
      quiet: true,
      onDone: (made) => integration === undefined && go(`/integrations/${(made as Integration)._id}`),
    },
  )
  const fields = save.error instanceof ApiError ? save.error.fields : {}
  const set = (key: string, value: string | boolean) => setValues({ ...values, [key]: value })
  return (
    <div className="flex flex-col gap-5">
      <form
        className="card"
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate(undefined)
        }}
      >
        <fieldset disabled={!mayChange} className="flex flex-col gap-4 p-5">
          {save.error !== null && <Notice tone="error">{save.error.message}</Notice>}
          <TextField label="Name" value={name} maxLength={255} onText={setName} />
          {provider.credentials.map((field) => {
            const label = field.required ? field.label : `${field.label} (optional)`
            const error = fields[`credentials.${field.key}`]
            const hint = field.description === undefined ? undefined : field.description
            if (field.type === 'boolean')
              return (
                <Toggle
                  key={field.key}
                  label={field.label}
                  hint={hint}
                  checked={values[field.key] === true}
                  onChange={(on) => set(field.key, on)}
                />
              )
            if (field.choices !== undefined && field.choices.length > 0)
              return (
                <SelectField
                  key={field.key}
                  label={label}
                  hint={hint}
                  error={error}
                  value={String(values[field.key])}
                  options={[['', '–'], ...field.choices.map((one) => [one, one] as const)]}
                  onText={(text) => set(field.key, text)}
                />
              )
            return (
              <TextField
                key={field.key}
                label={label}
                hint={hint}
                error={error}
                type={field.secret ? 'password' : 'text'}
                autoComplete="off"
                placeholder={field.placeholder}
                value={String(values[field.key])}
                onText={(text) => set(field.key, text)}
              />
            )
          })}
          <div className="flex flex-col gap-3 border-t border-line pt-4">
            <Toggle label="On" hint="Messages may go out by it." checked={active} onChange={setActive} />
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
          <footer className="flex items-center justify-between gap-2 border-t border-line px-5 py-3">
            <a href={provider.docsUrl} target="_blank" rel="noreferrer" className="link text-xs">
              {provider.name}’s documentation
            </a>
            <Button type="submit" look="primary" busy={save.isPending}>
              {integration === undefined ? 'Add' : 'Save'}
            </Button>
          </footer>
        )}
      </form>
      {integration !== undefined && provider.receipts !== 'none' && (
        <Section title="Receipts">
          <div className="flex flex-col gap-3 p-4">
            <p className="text-ink-2">
              {provider.name} reports deliveries and bounces to this address; set it in your account there.
            </p>
            <Code label="receipts address" text={`${serviceUrl}/v1/webhooks/${environmentId}/${integration._id}`} />
          </div>
        </Section>
      )}
    </div>
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

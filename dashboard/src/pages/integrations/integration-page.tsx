// An account at a provider: its form comes from the provider's own catalogue entry.
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { useEnvironment, useMayChange } from '../../session.tsx'
import { Button } from '../../ui/controls.tsx'
import { Code } from '../../ui/copy.tsx'
import { ConfirmByTyping } from '../../ui/dialog.tsx'
import { BackTo } from '../../ui/list.tsx'
import { Answered, Notice, Page, Section } from '../../ui/page.tsx'
import { Badge } from '../../ui/status.tsx'
import { serviceUrl } from '../activity/curl.ts'
import { AccountForm } from './account-form.tsx'
import { Health } from './health.tsx'

type Integration = Schemas['Integration']
type Provider = Schemas['Provider']

const Back = () => <BackTo to="/integrations">Integrations</BackTo>

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
  const others = useAsk(['integrations', 'list'], () => answerOf(client.GET('/v1/integrations')))
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
          provider === undefined ? null : (
            <div className="flex flex-col gap-5">
              <Health
                integration={one}
                providerName={provider.name}
                accounts={others.data?.filter((other) => other.providerId === one.providerId).length ?? 1}
              />
              <AccountForm key={one._id} provider={provider} integration={one} />
              {provider.receipts !== 'none' && <Receipts provider={provider} integration={one} />}
            </div>
          )
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

function Receipts({ provider, integration }: { provider: Provider; integration: Integration }) {
  const { id: environmentId } = useEnvironment()
  return (
    <Section title="Receipts">
      <div className="flex flex-col gap-3 p-4">
        <p className="text-ink-2">
          {provider.name} reports deliveries and bounces to this address; set it in your account there.
        </p>
        <Code label="receipts address" text={`${serviceUrl}/v1/webhooks/${environmentId}/${integration._id}`} />
      </div>
    </Section>
  )
}

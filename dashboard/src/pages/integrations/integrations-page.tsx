// Integrations: the accounts that messages go out by, and the gallery of providers to add one from.
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk } from '../../ask.ts'
import { EnvLink, useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Button, Choice } from '../../ui/controls.tsx'
import { Icon, iconOfStep, nameOfStep } from '../../ui/icons.tsx'
import { Answered, Empty, Page, Section } from '../../ui/page.tsx'
import { Badge } from '../../ui/status.tsx'
import type { ProviderCounts } from './health.tsx'
import { seriesOf, shareOf, useProviderCounts } from './health.tsx'

type Integration = Schemas['Integration']
type Provider = Schemas['Provider']
const channels = ['email', 'sms', 'push', 'chat', 'in_app'] as const

export function IntegrationsPage() {
  const search = useSearch({ strict: false }) as { add?: string }
  const go = useGo()
  const mayChange = useMayChange()
  const isAdding = search.add !== undefined
  const integrations = useAsk(['integrations', 'list'], () => answerOf(client.GET('/v1/integrations')))
  const providers = useAsk(['providers'], () => answerOf(client.GET('/v1/providers')))
  const counts = useProviderCounts()
  const nameOf = (id: string) => providers.data?.find(({ providerId }) => providerId === id)?.name ?? id
  return (
    <Page
      title="Integrations"
      count={integrations.data === undefined ? undefined : String(integrations.data.length)}
      lead="Accounts at providers. The primary one of a channel sends; the others take over when it cannot."
      actions={
        mayChange && (
          <Button
            look={isAdding ? 'plain' : 'primary'}
            icon={isAdding ? 'left' : 'plus'}
            onClick={() => go('/integrations', isAdding ? {} : { add: 'email' })}
          >
            {isAdding ? 'Back to the accounts' : 'Add an integration'}
          </Button>
        )
      }
    >
      {isAdding ? (
        <Answered of={providers}>{(all) => <Gallery providers={all} channel={search.add ?? 'email'} />}</Answered>
      ) : (
        <Answered of={integrations}>
          {(all) => (
            <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-2">
              {channels.map((channel) => (
                <Section key={channel} title={nameOfStep(channel)}>
                  <Accounts
                    of={all.filter((one) => one.channel === channel)}
                    nameOf={nameOf}
                    counts={counts.data}
                    channel={channel}
                    mayChange={mayChange}
                  />
                </Section>
              ))}
            </div>
          )}
        </Answered>
      )}
    </Page>
  )
}

function Accounts({
  of,
  nameOf,
  counts,
  channel,
  mayChange,
}: {
  of: readonly Integration[]
  nameOf: (id: string) => string
  counts: ProviderCounts | undefined
  channel: string
  mayChange: boolean
}) {
  const go = useGo()
  if (of.length === 0) {
    return (
      <Empty
        icon={iconOfStep(channel)}
        title={`No account for ${nameOfStep(channel)}`}
        action={
          mayChange ? (
            <Button onClick={() => go('/integrations', { add: channel })}>Choose a provider</Button>
          ) : undefined
        }
      >
        Steps of this channel fail until there is one.
      </Empty>
    )
  }
  return (
    <ul className="divide-y divide-line">
      {inOrder(of).map((one) => (
        <li key={one._id}>
          <EnvLink
            to={`/integrations/${one._id}`}
            className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-3 hover:bg-bg-2"
          >
            <Icon name={iconOfStep(one.channel)} className="text-ink-2" />
            <span className="min-w-0 flex-1 basis-48">
              <span className="block truncate font-medium">{one.name}</span>
              <span className="block truncate text-xs text-ink-3">
                {nameOf(one.providerId) !== one.name && `${nameOf(one.providerId)}: `}
                {one.active && roleOf(one)}
              </span>
            </span>
            {counts !== undefined && one.active && <DayHealth of={one} counts={counts} />}
            {one.primary && <Badge tone="blue">Primary</Badge>}
            {!one.active && (
              <Badge tone="grey" icon="minus">
                Off
              </Badge>
            )}
          </EnvLink>
        </li>
      ))}
    </ul>
  )
}

/** As the service chooses: those with conditions that fit, oldest first; the primary one; the others; last what is off. */
const rankOf = (one: Integration): number => (!one.active ? 3 : one.conditions.length > 0 ? 0 : one.primary ? 1 : 2)
const inOrder = (all: readonly Integration[]): Integration[] => all.toSorted((a, b) => rankOf(a) - rankOf(b))

/** Comes with every environment, until there is a real account. */
const isBuiltIn = (one: Integration): boolean => one.providerId.startsWith('platform-')

function roleOf(one: Integration): string {
  if (one.channel === 'in_app') return 'shows messages in your app'
  if (one.configurations?.capture === true || isBuiltIn(one)) return 'captures messages in the outbox'
  if (one.conditions.length > 0) return 'for messages that fit its conditions'
  if (one.primary) return 'sends by default'
  return ['email', 'sms'].includes(one.channel)
    ? 'takes over when the one above it cannot'
    : 'for those who have an address there'
}

/** Of the last 24 hours, in a word; nothing where nothing was sent. */
function DayHealth({ of, counts }: { of: Integration; counts: ProviderCounts }) {
  const series = seriesOf(counts, of)
  const { total, failed } = shareOf(series)
  if (total === 0) return null
  const isCaptured = series.every(({ name, counts: each }) => name === 'Captured' || each.every((one) => one === 0))
  return (
    <span title="In the last 24 hours">
      {failed === 0 ? (
        <Badge tone={isCaptured ? 'violet' : 'green'} icon={isCaptured ? 'outbox' : 'check'}>
          {`${total.toLocaleString('en')} ${isCaptured ? 'captured' : 'sent'}`}
        </Badge>
      ) : (
        <Badge tone="red" icon="warning">
          {`${failed.toLocaleString('en')} of ${total.toLocaleString('en')} failed`}
        </Badge>
      )}
    </span>
  )
}

function Gallery({ providers, channel }: { providers: readonly Provider[]; channel: string }) {
  const go = useGo()
  const [text, setText] = useState('')
  const wanted = text.trim().toLowerCase()
  const shown = providers.filter(
    (one) =>
      one.credentials.length > 0 &&
      (wanted === '' ? one.channel === channel : `${one.name} ${one.providerId}`.toLowerCase().includes(wanted)),
  )
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <Choice
          label="Channel"
          value={channel}
          options={channels.filter((one) => one !== 'in_app').map((one) => [one, nameOfStep(one)] as const)}
          onChange={(add) => go('/integrations', { add }, { replace: true })}
        />
        <div className="relative max-sm:w-full">
          <Icon name="search" size={14} className="absolute top-2.5 left-2.5 text-ink-3" />
          <input
            aria-label="Search all providers"
            placeholder={`Search all ${providers.length} providers`}
            value={text}
            onChange={(event) => setText(event.target.value)}
            className="field pl-8 sm:w-64"
          />
        </div>
      </div>
      {shown.length === 0 ? (
        <div className="card">
          <Empty icon="search" title="No provider has this name">
            Any SMTP server, and a webhook of your own, work as well.
          </Empty>
        </div>
      ) : (
        <ul className="grid grid-cols-1 gap-3 sm:grid-cols-2 lg:grid-cols-3 2xl:grid-cols-4">
          {shown.map((one) => (
            <li key={one.providerId}>
              <EnvLink
                to={`/integrations/new/${one.providerId}`}
                className="card flex h-full items-start gap-3 p-4 hover:border-accent"
              >
                <span className="flex size-9 shrink-0 items-center justify-center rounded-md bg-bg-3 font-semibold text-ink-2">
                  {one.name.slice(0, 1)}
                </span>
                <span className="min-w-0">
                  <span className="block font-medium">{one.name}</span>
                  <span className="block text-xs text-ink-3">
                    {nameOfStep(one.channel)}
                    {one.receipts !== 'none' && ', with receipts'}
                  </span>
                </span>
              </EnvLink>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

// One person: who they are, what they were sent, what they prefer, and why they were or were not notified.
import { useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client, textOf } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { EnvLink, useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Button, Choice, IconButton, TextField } from '../../ui/controls.tsx'
import { CopyText, Json } from '../../ui/copy.tsx'
import { ConfirmByTyping } from '../../ui/dialog.tsx'
import { saveAsFile } from '../../ui/download.ts'
import { SaveNotices } from '../../ui/edit-page.tsx'
import { useEdits } from '../../ui/edits.ts'
import { Icon, nameOfStep } from '../../ui/icons.tsx'
import { BackTo } from '../../ui/list.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Answered, Empty, Page, Section } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { sayError } from '../../ui/toast.tsx'
import { outcomeOf } from '../activity/outcome.ts'
import { useProviderName } from '../integrations/provider-names.ts'
import { FeedOfSubscriber } from './feed.tsx'
import { Preferences } from './preferences.tsx'
import { nameOfSubscriber } from './subscriber-names.ts'
import { TopicsOfSubscriber } from './topics.tsx'
import { WhySubscriber } from './why-subscriber.tsx'

type Subscriber = Schemas['Subscriber']
const tabs = [
  ['profile', 'Profile'],
  ['activity', 'Activity'],
  ['why', 'Why'],
  ['preferences', 'Preferences'],
  ['topics', 'Topics'],
  ['feed', 'Inbox'],
] as const
type Tab = (typeof tabs)[number][0]

export function SubscriberPage() {
  const { subscriberId = '' } = useParams({ strict: false }) as { subscriberId?: string }
  const search = useSearch({ strict: false }) as { tab?: string; workflow?: string }
  const tab: Tab = tabs.find(([one]) => one === search.tab)?.[0] ?? 'profile'
  const go = useGo()
  const here = `/subscribers/${encodeURIComponent(subscriberId)}`
  const subscriber = useAsk(['subscribers', 'one', subscriberId], () =>
    answerOf(client.GET('/v2/subscribers/{subscriberId}', { params: { path: { subscriberId } } })),
  )
  const title = subscriber.data === undefined ? subscriberId : nameOfSubscriber(subscriber.data)
  return (
    <Page
      title={title}
      above={<BackTo to="/subscribers">Subscribers</BackTo>}
      lead={<CopyText text={subscriberId} whole />}
      actions={subscriber.data === undefined ? undefined : <Actions subscriberId={subscriberId} />}
    >
      <Choice
        label="What to show"
        value={tab}
        options={tabs}
        onChange={(next) => go(here, { tab: next }, { replace: true })}
      />
      <Answered of={subscriber}>
        {(one) => (
          <>
            {tab === 'profile' && <Profile key={one.subscriberId} subscriber={one} />}
            {tab === 'activity' && <Recent subscriberId={subscriberId} />}
            {tab === 'why' && (
              <WhySubscriber
                subscriberId={subscriberId}
                workflow={search.workflow}
                onWorkflow={(workflow) => go(here, { tab: 'why', workflow }, { replace: true })}
              />
            )}
            {tab === 'preferences' && <Preferences subscriberId={subscriberId} timezone={one.timezone ?? undefined} />}
            {tab === 'topics' && <TopicsOfSubscriber subscriberId={subscriberId} />}
            {tab === 'feed' && <FeedOfSubscriber subscriberId={subscriberId} />}
          </>
        )}
      </Answered>
    </Page>
  )
}

const fields = [
  ['firstName', 'First name'],
  ['lastName', 'Last name'],
  ['email', 'E-mail address'],
  ['phone', 'Phone number'],
  ['locale', 'Locale'],
  ['timezone', 'Time zone'],
] as const
type FieldName = (typeof fields)[number][0]

function Profile({ subscriber }: { subscriber: Subscriber }) {
  const mayChange = useMayChange('subscribers:write')
  const edits = useEdits(
    Object.fromEntries(fields.map(([name]) => [name, subscriber[name] ?? ''])) as Record<FieldName, string>,
  )
  const save = useChange(
    (sent: typeof edits.changed) => {
      const body = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, value.trim() || null]))
      return answerOf(
        client.PATCH('/v2/subscribers/{subscriberId}', {
          params: { path: { subscriberId: subscriber.subscriberId } },
          body,
        }),
      )
    },
    {
      touches: ['subscribers'],
      says: 'The profile is saved',
      quiet: true,
      onDone: (_answer, sent) => edits.settle(sent),
    },
  )
  const channels = subscriber.channels ?? []
  const providerName = useProviderName()
  return (
    <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-2">
      <Section title="Profile">
        <form
          className="flex flex-col gap-3 p-4"
          onSubmit={(event) => {
            event.preventDefault()
            if (edits.isChanged) save.mutate(edits.changed)
          }}
        >
          <SaveNotices what="profile" isOvertaken={edits.isOvertaken} save={save} />
          <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
            {fields.map(([name, label]) => (
              <TextField
                key={name}
                label={label}
                value={edits.values[name]}
                maxLength={320}
                readOnly={!mayChange}
                onText={(value) => edits.set({ [name]: value })}
              />
            ))}
          </div>
          {mayChange && (
            <div className="flex justify-end gap-2">
              {edits.isChanged && <Button onClick={edits.discard}>Discard</Button>}
              <Button type="submit" look="primary" busy={save.isPending} disabled={!edits.isChanged}>
                Save
              </Button>
            </div>
          )}
        </form>
      </Section>
      <div className="flex flex-col gap-5">
        <Section title="Reached by">
          <ul className="divide-y divide-line">
            <Reach icon="mail" name="E-mail" value={subscriber.email} />
            <Reach icon="sms" name="SMS" value={subscriber.phone} />
            {channels.map((channel) => (
              <Reach
                key={`${channel.providerId}${channel.integrationIdentifier ?? ''}`}
                icon="push"
                name={providerName(channel.providerId)}
                value={`${(channel.credentials as { deviceTokens?: string[] }).deviceTokens?.length ?? 1} known`}
              />
            ))}
          </ul>
        </Section>
        <Section title="Data">
          <div className="p-4">
            {subscriber.data == null || Object.keys(subscriber.data).length === 0 ? (
              <p className="text-ink-2">Templates can use what the API stores here.</p>
            ) : (
              <Json label="data" value={subscriber.data} />
            )}
          </div>
        </Section>
      </div>
    </div>
  )
}

function Reach({
  icon,
  name,
  value,
}: {
  icon: 'mail' | 'sms' | 'push'
  name: string
  value: string | null | undefined
}) {
  return (
    <li className="flex items-center gap-3 px-4 py-2.5">
      <Icon name={icon} className="text-ink-2" />
      <span className="w-20">{name}</span>
      <span className={`min-w-0 flex-1 truncate ${value ? '' : 'text-ink-3'}`}>{value || 'not known'}</span>
    </li>
  )
}

function Recent({ subscriberId }: { subscriberId: string }) {
  const list = useAsk(['activity', 'of', subscriberId], () =>
    answerOf(client.GET('/v1/notifications', { params: { query: { subscriberIds: [subscriberId], limit: 30 } } })),
  )
  return (
    <div className="card">
      <Answered of={list}>
        {({ data, hasMore }) =>
          data.length === 0 ? (
            <Empty icon="activity" title="Nothing was triggered for them yet" />
          ) : (
            <ul className="divide-y divide-line">
              {hasMore && (
                <li className="px-4 py-2 text-xs text-ink-3">
                  The newest {data.length}.{' '}
                  <EnvLink to="/activity" search={{ subscriber: subscriberId }} className="link">
                    All of it is in the activity
                  </EnvLink>
                </li>
              )}
              {data.map((one) => (
                <li key={one._id}>
                  <EnvLink to={`/activity/${one._id}`} className="flex items-center gap-3 px-4 py-2.5 hover:bg-bg-2">
                    <span className="w-24 shrink-0">
                      <Status state={outcomeOf(one.jobs)} />
                    </span>
                    <span className="min-w-0 flex-1 truncate font-medium">{one.template.name}</span>
                    <span className="text-ink-2 max-sm:hidden">{one.channels.map(nameOfStep).join(', ')}</span>
                    <span className="text-ink-2">
                      <Time at={one.createdAt} />
                    </span>
                  </EnvLink>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </div>
  )
}

function Actions({ subscriberId }: { subscriberId: string }) {
  const go = useGo()
  const mayChange = useMayChange('subscribers:write')
  const mayErase = useMayChange()
  const [asked, setAsked] = useState<'delete' | 'erase'>()
  const path = { subscriberId }
  const act = useChange(
    (what: 'delete' | 'erase'): Promise<unknown> =>
      what === 'delete'
        ? answerOf(client.DELETE('/v2/subscribers/{subscriberId}', { params: { path } }))
        : answerOf(client.POST('/v1/subscribers/{subscriberId}/erase', { params: { path } })),
    {
      leaves: true,
      touches: ['subscribers', 'activity'],
      says: (_data, what) =>
        what === 'delete' ? 'The subscriber is deleted' : 'Everything about the person is being erased',
      onDone: () => go('/subscribers'),
    },
  )
  const download = () =>
    textOf(`/v1/subscribers/${encodeURIComponent(subscriberId)}/export`).then(
      (text) => saveAsFile(`${subscriberId}.ndjson`, 'application/x-ndjson', text),
      sayError,
    )
  return (
    <>
      {mayErase && (
        <Button icon="file" onClick={() => void download()}>
          Export
        </Button>
      )}
      {mayChange && (
        <Menu
          label="More"
          button={<IconButton name="more" label="More" />}
          items={[
            {
              text: 'Delete',
              hint: 'The activity keeps what happened',
              icon: 'trash',
              danger: true,
              onSelect: () => setAsked('delete'),
            },
            ...(mayErase
              ? ([
                  {
                    text: 'Erase',
                    hint: 'Also from everything that happened',
                    icon: 'shield',
                    danger: true,
                    onSelect: () => setAsked('erase'),
                  },
                ] as const)
              : []),
          ]}
        />
      )}
      {asked !== undefined && (
        <ConfirmByTyping
          title={asked === 'delete' ? 'Delete the subscriber' : 'Erase the person'}
          word={subscriberId}
          action={asked === 'delete' ? 'Delete' : 'Erase'}
          busy={act.isPending}
          onConfirm={() => act.mutate(asked)}
          onClose={() => setAsked(undefined)}
        >
          {asked === 'delete'
            ? 'They can no longer be notified. Messages that were sent stay in the activity.'
            : 'Their messages, addresses and payloads are removed from everything that happened. This cannot be undone.'}
        </ConfirmByTyping>
      )}
    </>
  )
}

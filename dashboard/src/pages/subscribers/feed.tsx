// A person's inbox, as it is in the app: what is new, read, archived or put off.
import { useSearch } from '@tanstack/react-router'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk } from '../../ask.ts'
import { EnvLink, useGo } from '../../env-link.tsx'
import { Choice } from '../../ui/controls.tsx'
import { Answered, Empty } from '../../ui/page.tsx'
import type { Tone } from '../../ui/status.tsx'
import { Badge } from '../../ui/status.tsx'
import { exactTime, Time } from '../../ui/time.tsx'

type Item = Schemas['SubscriberNotificationPage']['data'][number]
type Which = 'all' | 'unread' | 'archived' | 'snoozed'
const queries: Readonly<Record<Which, object>> = {
  all: { archived: false, snoozed: false },
  unread: { read: false, archived: false, snoozed: false },
  archived: { archived: true },
  snoozed: { snoozed: true },
}
const refreshMs = 10_000

export function FeedOfSubscriber({ subscriberId }: { subscriberId: string }) {
  const search = useSearch({ strict: false }) as { tab?: string; which?: string }
  const go = useGo()
  const which: Which = search.which !== undefined && search.which in queries ? (search.which as Which) : 'all'
  const setWhich = (next: Which) =>
    go(`/subscribers/${encodeURIComponent(subscriberId)}`, { tab: 'feed', which: next }, { replace: true, stays: true })
  const list = useAsk(
    ['subscribers', 'feed', subscriberId, which],
    () =>
      answerOf(
        client.GET('/v2/subscribers/{subscriberId}/notifications', {
          params: { path: { subscriberId }, query: { limit: 50, ...queries[which] } },
        }),
      ),
    { keeps: true, everyMs: refreshMs },
  )
  return (
    <div className="flex flex-col gap-3">
      <Choice
        label="Which messages"
        value={which}
        options={[
          ['all', 'Inbox'],
          ['unread', 'Unread'],
          ['snoozed', 'Snoozed'],
          ['archived', 'Archived'],
        ]}
        onChange={setWhich}
      />
      <div className="card">
        <Answered of={list}>
          {({ data, hasMore }) =>
            data.length === 0 ? (
              <Empty icon="bell" title={which === 'all' ? 'The inbox is empty' : 'Nothing here'}>
                In-app steps put messages here; the person sees them in your app.
              </Empty>
            ) : (
              <>
                <ul className="divide-y divide-line">
                  {data.map((one) => (
                    <Entry key={one.id} item={one} />
                  ))}
                </ul>
                {hasMore && (
                  <p className="border-t border-line px-4 py-2 text-xs text-ink-3">
                    The newest 50. The activity has everything.
                  </p>
                )}
              </>
            )
          }
        </Answered>
      </div>
    </div>
  )
}

function stateOf(item: Item): readonly [Tone, string] {
  if (item.isArchived) return ['grey', 'Archived']
  if (item.isSnoozed)
    return ['amber', item.snoozedUntil == null ? 'Snoozed' : `Snoozed until ${exactTime(item.snoozedUntil)}`]
  if (item.isRead) return ['grey', 'Read']
  return item.isSeen ? ['blue', 'Seen'] : ['blue', 'New']
}

function Entry({ item }: { item: Item }) {
  const [tone, word] = stateOf(item)
  return (
    <li className="flex items-start gap-3 px-4 py-3">
      <div className="min-w-0 flex-1">
        {item.subject !== undefined && item.subject !== '' && <p className="font-medium break-words">{item.subject}</p>}
        <p className={`break-words whitespace-pre-wrap ${item.isRead ? 'text-ink-2' : ''}`} dir="auto">
          {item.body}
        </p>
        <p className="mt-1 text-xs text-ink-3">
          <EnvLink to="/activity" search={{ transactionId: item.transactionId }} className="link">
            {item.workflow?.name ?? 'Its event'}
          </EnvLink>
          , <Time at={item.createdAt} />
        </p>
      </div>
      <Badge tone={tone}>{word}</Badge>
    </li>
  )
}

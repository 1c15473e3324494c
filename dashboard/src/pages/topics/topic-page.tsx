// One topic and who is in it.
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { answerOf, client } from '../../api.ts'
import { useAsk, useAskRows, useChange } from '../../ask.ts'
import { EnvLink, useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import type { Bulk } from '../../ui/bulk.tsx'
import { BulkBar, RowTick } from '../../ui/bulk.tsx'
import { Button, IconButton, TextField } from '../../ui/controls.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { ConfirmByTyping } from '../../ui/dialog.tsx'
import { useFocusKept } from '../../ui/focus-kept.ts'
import { Icon } from '../../ui/icons.tsx'
import { BackTo, MoreButton } from '../../ui/list.tsx'
import { Answered, Empty, Page } from '../../ui/page.tsx'
import { useSelection } from '../../ui/selection.ts'
import type { Subscription } from './subscription.ts'
import { subscriptionAgain } from './subscription.ts'

const keyOf = ({ _id }: Subscription): string => _id
const nameOf = ({ subscriber: { firstName, lastName, subscriberId } }: Subscription): string =>
  [firstName, lastName].filter(Boolean).join(' ') || subscriberId
/** As many as one call takes. */
const perCall = 100

const bulkOf = (topicKey: string): Bulk<Subscription> => ({
  of: 'subscribers',
  one: 'subscriber',
  nameOf,
  actions: [
    {
      text: 'Remove',
      icon: 'cross',
      does: 'They are taken out of the topic. They are not deleted.',
      perCall,
      touches: ['topics'],
      act: async (rows, _answer, api) => {
        const answer = await answerOf(
          api.DELETE('/v2/topics/{topicKey}/subscriptions', {
            params: { path: { topicKey } },
            body: { subscriptions: rows.map(({ subscriber }) => subscriber.subscriberId) } as never,
          }),
        )
        const refused = new Map(answer.errors?.map(({ subscriberId, message }) => [subscriberId, message]))
        return rows.flatMap((row) => {
          const words = refused.get(row.subscriber.subscriberId)
          return words === undefined ? [] : [{ row, words }]
        })
      },
    },
  ],
})

export function TopicPage() {
  const { topicKey = '' } = useParams({ strict: false }) as { topicKey?: string }
  const go = useGo()
  const mayChange = useMayChange('subscribers:write')
  const [subscriberId, setSubscriberId] = useState('')
  const [deleting, setDeleting] = useState(false)
  const path = { topicKey }
  const topic = useAsk(['topics', 'one', topicKey], () =>
    answerOf(client.GET('/v2/topics/{topicKey}', { params: { path } })),
  )
  const members = useAskRows(['topics', 'members', topicKey], ({ cursor }) =>
    answerOf(client.GET('/v2/topics/{topicKey}/subscriptions', { params: { path, query: { limit: 100, ...cursor } } })),
  )
  const shown = members.table.of.data === undefined ? [] : members.table.rowsOf(members.table.of.data)
  const selection = useSelection(shown, keyOf)
  const focus = useFocusKept()
  const add = useChange(
    (id: string) =>
      answerOf(client.POST('/v2/topics/{topicKey}/subscriptions', { params: { path }, body: { subscriptions: [id] } })),
    { touches: ['topics'], says: 'The subscriber was added', onDone: () => setSubscriberId('') },
  )
  const take = useChange(
    ({ subscriber }: Subscription) =>
      answerOf(
        client.DELETE('/v2/topics/{topicKey}/subscriptions', {
          params: { path },
          body: { subscriptions: [subscriber.subscriberId] } as never,
        }),
      ),
    {
      touches: ['topics'],
      says: 'The subscriber was removed',
      undo: (one) =>
        answerOf(
          client.POST('/v2/topics/{topicKey}/subscriptions', {
            params: { path },
            body: { subscriptions: [subscriptionAgain(one)] } as never,
          }),
        ),
    },
  )
  const remove = useChange(() => answerOf(client.DELETE('/v2/topics/{topicKey}', { params: { path } })), {
    touches: ['topics'],
    says: 'The topic is deleted',
    leaves: true,
    onDone: () => go('/topics'),
  })
  return (
    <Page
      title={topic.data?.name || topicKey}
      count={members.total?.toLocaleString('en')}
      wide={false}
      above={<BackTo to="/topics">Topics</BackTo>}
      lead={<CopyText text={topicKey} whole />}
      actions={
        mayChange &&
        topic.data !== undefined && (
          <Button look="danger" icon="trash" onClick={() => setDeleting(true)}>
            Delete
          </Button>
        )
      }
    >
      <Answered of={topic}>
        {() => (
          <section className="card" aria-label="Members">
            {mayChange && (
              <form
                className="flex items-end gap-2 border-b border-line p-4"
                onSubmit={(event) => {
                  event.preventDefault()
                  if (subscriberId.trim() !== '') add.mutate(subscriberId.trim())
                }}
              >
                <div className="min-w-0 flex-1">
                  <TextField
                    label="Add a subscriber"
                    placeholder="Subscriber id"
                    value={subscriberId}
                    maxLength={255}
                    onText={setSubscriberId}
                  />
                </div>
                <Button type="submit" busy={add.isPending} disabled={subscriberId.trim() === ''} className="h-[34px]">
                  Add
                </Button>
              </form>
            )}
            <Answered of={members.table.of}>
              {() =>
                shown.length === 0 ? (
                  <Empty icon="people" title="No subscribers yet" />
                ) : (
                  <ul className="divide-y divide-line" {...focus}>
                    {shown.map((one) => (
                      <li
                        key={one._id}
                        onKeyDown={(event) => mayChange && selection.press(event, one._id)}
                        className={`out-of-sight flex items-center gap-3 py-1.5 pr-2 ${mayChange ? 'pl-2' : 'pl-4'} ${selection.has(one._id) ? 'bg-accent-bg' : ''}`}
                      >
                        {mayChange && (
                          <RowTick
                            label={`Select ${nameOf(one)}`}
                            checked={selection.has(one._id)}
                            onToggle={(isRange) => selection.toggle(one._id, isRange)}
                          />
                        )}
                        <Icon name="people" className="text-ink-2" />
                        <span className="min-w-0 flex-1 truncate">
                          <EnvLink
                            to={`/subscribers/${encodeURIComponent(one.subscriber.subscriberId)}`}
                            className="hover:underline"
                          >
                            {nameOf(one)}
                          </EnvLink>
                        </span>
                        <span className="truncate text-ink-3 max-sm:hidden">{one.subscriber.email}</span>
                        {mayChange && (
                          <IconButton
                            name="cross"
                            label={`Remove ${one.subscriber.subscriberId}`}
                            onClick={() => take.mutate(one)}
                          />
                        )}
                      </li>
                    ))}
                  </ul>
                )
              }
            </Answered>
            {mayChange && <BulkBar bulk={bulkOf(topicKey)} selection={selection} keyOf={keyOf} />}
            <MoreButton more={members.table.more()} busy={members.table.loadingMore} error={members.table.moreError} />
          </section>
        )}
      </Answered>
      {deleting && (
        <ConfirmByTyping
          title="Delete the topic"
          word={topicKey}
          action="Delete"
          busy={remove.isPending}
          onConfirm={() => remove.mutate(undefined)}
          onClose={() => setDeleting(false)}
        >
          Events for this topic will notify no one. The subscribers are not deleted.
        </ConfirmByTyping>
      )}
    </Page>
  )
}

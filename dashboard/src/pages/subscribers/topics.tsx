// The topics that a person belongs to.
import { useState } from 'react'
import { answerOf, client } from '../../api.ts'
import { useAskRows, useChange } from '../../ask.ts'
import { EnvLink } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Button, IconButton, TextField } from '../../ui/controls.tsx'
import { Icon } from '../../ui/icons.tsx'
import { MoreButton } from '../../ui/list.tsx'
import { Answered, Empty } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import type { Subscription } from '../topics/subscription.ts'
import { subscriptionAgain } from '../topics/subscription.ts'

export function TopicsOfSubscriber({ subscriberId }: { subscriberId: string }) {
  const mayChange = useMayChange('subscribers:write')
  const [topic, setTopic] = useState('')
  const list = useAskRows(['topics', 'of', subscriberId], ({ cursor }) =>
    answerOf(
      client.GET('/v2/subscribers/{subscriberId}/subscriptions', {
        params: { path: { subscriberId }, query: { limit: 50, ...cursor } },
      }),
    ),
  )
  const body = { subscriptions: [subscriberId] }
  const add = useChange(
    (topicKey: string) =>
      answerOf(client.POST('/v2/topics/{topicKey}/subscriptions', { params: { path: { topicKey } }, body })),
    { touches: ['topics'], says: 'They belong to the topic now', onDone: () => setTopic('') },
  )
  const leave = useChange(
    ({ topic: { key: topicKey } }: Subscription) =>
      answerOf(
        client.DELETE('/v2/topics/{topicKey}/subscriptions', { params: { path: { topicKey } }, body: body as never }),
      ),
    {
      touches: ['topics'],
      says: 'They left the topic',
      undo: (one) =>
        answerOf(
          client.POST('/v2/topics/{topicKey}/subscriptions', {
            params: { path: { topicKey: one.topic.key } },
            body: { subscriptions: [subscriptionAgain(one)] } as never,
          }),
        ),
    },
  )
  return (
    <section className="card" aria-label="Topics">
      {mayChange && (
        <form
          className="flex items-end gap-2 border-b border-line p-4"
          onSubmit={(event) => {
            event.preventDefault()
            if (topic.trim() !== '') add.mutate(topic.trim())
          }}
        >
          <div className="min-w-0 flex-1">
            <TextField label="Add to a topic" placeholder="Topic key" value={topic} maxLength={100} onText={setTopic} />
          </div>
          <Button type="submit" busy={add.isPending} disabled={topic.trim() === ''} className="h-[34px]">
            Add
          </Button>
        </form>
      )}
      <Answered of={list.table.of} rows={3}>
        {(pages) => {
          const all = list.table.rowsOf(pages)
          if (all.length === 0)
            return (
              <Empty icon="topic" title="In no topic">
                Events for a topic reach everyone who belongs to it.
              </Empty>
            )
          return (
            <ul className="divide-y divide-line">
              {all.map((one) => (
                <li key={one._id} className="flex items-center gap-3 py-1.5 pr-2 pl-4">
                  <Icon name="topic" className="text-ink-2" />
                  <EnvLink
                    to={`/topics/${encodeURIComponent(one.topic.key)}`}
                    className="min-w-0 flex-1 truncate font-medium hover:underline"
                  >
                    {one.topic.name || one.topic.key}
                  </EnvLink>
                  <span className="text-ink-3 max-sm:hidden">
                    since <Time at={one.createdAt ?? ''} />
                  </span>
                  {mayChange && (
                    <IconButton
                      name="cross"
                      label={`Remove from ${one.topic.name || one.topic.key}`}
                      onClick={() => leave.mutate(one)}
                    />
                  )}
                </li>
              ))}
            </ul>
          )
        }}
      </Answered>
      <MoreButton more={list.table.more()} busy={list.table.loadingMore} error={list.table.moreError} />
    </section>
  )
}

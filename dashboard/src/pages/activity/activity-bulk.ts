// What can be done to many notifications or messages at once.
import type { Schemas } from '../../api.ts'
import { answerOf } from '../../api.ts'
import { useMayChange } from '../../session.tsx'
import type { Bulk } from '../../ui/bulk.tsx'
import { each } from '../../ui/bulk-actions.ts'
import { personOf } from './outcome.ts'

type Activity = Schemas['Activity']
type Message = Schemas['ListedMessage']

const has = ({ jobs }: Activity, ...states: string[]): boolean => jobs.some(({ status }) => states.includes(status))
const of = ({ _id }: Activity) => ({ params: { path: { notificationId: _id } } })

export function useActivityBulk(): Bulk<Activity> | undefined {
  const mayChange = useMayChange()
  if (!mayChange) return undefined
  const touches = ['activity', 'notification']
  return {
    of: 'notifications',
    one: 'notification',
    nameOf: (one) => `${one.template.name} to ${personOf(one)}`,
    actions: [
      {
        text: 'Send again',
        icon: 'again',
        does: 'Failed steps run again with the same version of the workflow. Completed steps do not run again, so no message is sent twice.',
        fits: (one) => has(one, 'failed'),
        touches,
        act: each((one: Activity, api) => answerOf(api.POST('/v1/notifications/{notificationId}/redrive', of(one)))),
      },
      {
        text: 'Cancel',
        icon: 'ban',
        does: 'Steps that are waiting or have not started are cancelled. Messages that were sent are not affected.',
        fits: (one) => has(one, 'queued', 'delayed', 'running'),
        typed: 'cancel',
        touches,
        act: each((one: Activity, api) => answerOf(api.POST('/v1/notifications/{notificationId}/cancel', of(one)))),
      },
    ],
  }
}

export function useMessageBulk(nameOf: (message: Message) => string): Bulk<Message> | undefined {
  const mayChange = useMayChange()
  if (!mayChange) return undefined
  return {
    of: 'messages',
    one: 'message',
    nameOf,
    actions: [
      {
        text: 'Delete',
        icon: 'trash',
        does: 'The messages leave the lists and the feeds of their recipients. What was sent is not unsent.',
        fits: ({ removedAt }) => removedAt === undefined,
        typed: 'delete',
        touches: ['activity', 'notification', 'feed'],
        act: each(({ _id }: Message, api) =>
          answerOf(api.DELETE('/v1/messages/{messageId}', { params: { path: { messageId: _id } } })),
        ),
      },
    ],
  }
}

// A subscription to a topic, as taking its removal back posts it: with its identifier, its name and what it leaves out.
import type { Schemas } from '../../api.ts'

export type Subscription = Schemas['TopicSubscription']

export function subscriptionAgain({ subscriber, identifier, name, preferences }: Subscription) {
  return {
    subscriberId: subscriber.subscriberId,
    identifier,
    ...(name === undefined ? {} : { name }),
    ...(preferences === undefined
      ? {}
      : {
          preferences: preferences.map(({ workflow, enabled, condition }) => ({
            workflowId: workflow.id,
            enabled,
            ...(condition === undefined ? {} : { condition }),
          })),
        }),
  }
}

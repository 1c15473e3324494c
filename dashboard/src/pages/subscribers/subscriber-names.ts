// What a person is called: their name, or the id that one's own system has for them.
import type { Schemas } from '../../api.ts'

type Subscriber = Schemas['Subscriber']

export const nameOfSubscriber = (one: Pick<Subscriber, 'firstName' | 'lastName' | 'subscriberId'>): string =>
  [one.firstName, one.lastName].filter(Boolean).join(' ') || one.subscriberId

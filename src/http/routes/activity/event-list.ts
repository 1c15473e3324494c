// The list of events: GET /v1/events.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { eventsPage } from '../../../read/activity/event-pages.ts'
import { route } from '../../route.ts'
import { cursorPage, cursorParameters, literals, optionalTimestamp, timestamp } from '../../schemas.ts'

const listedEvent = Type.Object(
  {
    _id: Type.String(),
    transactionId: Type.String(),
    workflow: Type.Optional(
      Type.Object(
        { _id: Type.String(), identifier: Type.String(), name: Type.String() },
        { title: 'WorkflowOfEvent', description: 'As it was when the event was triggered.' },
      ),
    ),
    createdAt: timestamp({ description: 'When it was accepted.' }),
    notifications: Type.Integer({ description: 'How many notifications it created so far: one per subscriber.' }),
    state: literals(['expanding', 'expanded', 'canceled'], {
      description: '`expanding`: recipients are still being resolved. `canceled`: the whole event was cancelled.',
    }),
    topics: Type.Array(Type.String(), { description: 'The keys of the topics that it was sent to.' }),
    isBroadcast: Type.Boolean({ description: 'Whether it was for every subscriber.' }),
    isTest: Type.Boolean({ description: 'Whether it was a test of its workflow.' }),
  },
  { title: 'ListedEvent' },
)
const { after, before, limit, orderDirection } = cursorParameters(['_id'])

export const eventListRoutes = [
  route({
    tag: 'Events',
    category: 'global',
    method: 'GET',
    path: '/v1/events',
    operationId: 'listEvents',
    summary: 'List triggered events',
    description:
      'Each event once, however many subscribers it was for, without its payload; also events that had no recipients. The notifications of one are listed by `GET /v1/notifications?transactionId=…`.',
    scope: 'read',
    query: Type.Object({
      from: optionalTimestamp('Accepted at or after this ISO 8601 timestamp.'),
      to: optionalTimestamp('Accepted before this ISO 8601 timestamp.'),
      after,
      before,
      limit,
      orderDirection,
    }),
    replies: { 200: cursorPage('EventPage', listedEvent) },
    handle: async ({ db, versions }, { principal, query }) =>
      ok(await eventsPage(db, principal.environment, query, versions)),
  }),
]

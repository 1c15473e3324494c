// The list of what is in the queue: GET /v1/queue.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { depthMax } from '../../../queue/depth.ts'
import { queuePage, queueStates } from '../../../read/counts/queue-pages.ts'
import { laneNames } from '../../../world/meter.ts'
import { route } from '../../route.ts'
import { literals, offsetPage, offsetParameters, pageLimitMax, timestamp } from '../../schemas.ts'

const queueItem = Type.Object(
  {
    _id: Type.String(),
    queue: literals(['jobs', 'tasks'], { description: '`jobs`: steps of notifications. `tasks`: background work.' }),
    lane: literals(laneNames),
    dueAt: timestamp({ description: 'Due since or at this time; while it is worked on, until when it is leased.' }),
    task: Type.Optional(Type.String({ description: 'For a task: its kind.' })),
    notificationId: Type.Optional(Type.String()),
    transactionId: Type.Optional(Type.String({ description: 'The event that it belongs to, if any.' })),
    stepType: Type.Optional(Type.String({ description: 'For a job: the type of its step.' })),
    workflow: Type.Optional(Type.Object({ _id: Type.String(), name: Type.String() }, { title: 'WorkflowOfQueueItem' })),
    subscriber: Type.Optional(
      Type.Object(
        {
          subscriberId: Type.String(),
          firstName: Type.Optional(Type.String()),
          lastName: Type.Optional(Type.String()),
        },
        { title: 'SubscriberOfQueueItem' },
      ),
    ),
  },
  { title: 'QueueItem' },
)

export const queueRoutes = [
  route({
    tag: 'Counts',
    category: 'global',
    method: 'GET',
    path: '/v1/queue',
    operationId: 'listQueue',
    summary: 'List what is in the queue',
    description: `What \`GET /v1/counts/queue\` counts, the longest due first. Like the counts, it looks at the first ${depthMax.toLocaleString('en')} of each queue and lane; where there are as many, \`totalCount\` is left out.`,
    scope: 'read',
    query: Type.Object({
      state: Type.Optional(
        literals(queueStates, {
          default: 'due',
          description:
            '`due`: due and not leased by a worker. `inHand`: being worked on. `waiting`: waiting for a time, such as a delay, a digest or the next retry.',
        }),
      ),
      queue: Type.Optional(literals(['jobs', 'tasks'], { description: 'Of this queue only.' })),
      lane: Type.Optional(literals(laneNames, { description: 'Of this lane only.' })),
      ...offsetParameters(pageLimitMax),
    }),
    replies: { 200: offsetPage('QueuePage', queueItem) },
    handle: async ({ db, queue: { clock }, versions }, { principal, query }) => {
      const asked = { ...query, state: query.state ?? 'due', page: query.page ?? 0, limit: query.limit ?? 10 }
      return ok(await queuePage(db, principal.environment, asked, { clock, versions }))
    },
  }),
]

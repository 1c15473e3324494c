// Counts: /v1/counts, how much of what happened over time, how long it took, what failed, and what waits.
import type { TProperties } from 'typebox'
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { countGrains, countGroups, countMeasures, measureFacts } from '../../../domain/insight/counts.ts'
import { runnableStepTypes } from '../../../domain/workflows/workflow.ts'
import { failuresListedMax, readCounts, readDeliveryTimes, readFailures } from '../../../read/counts/counts.ts'
import { readQueue } from '../../../read/counts/counts-queue.ts'
import { laneNames } from '../../../world/meter.ts'
import { route } from '../../route.ts'
import { identifierText, literals, timestamp } from '../../schemas.ts'

/** As long as an ISO 8601 moment can be, and some more. */
const momentLengthMax = 64
const zoneLengthMax = 64
/** More values of one filter make a query that no address can hold. */
const filterValuesMax = 100
const outcomes = [...new Set(Object.values(measureFacts).flatMap((facts) => facts.outcomes))]

const some = <Item extends Parameters<typeof Type.Array>[0]>(item: Item, description: string) =>
  Type.Optional(Type.Array(item, { maxItems: filterValuesMax, description }))
const moment = (description: string) => Type.Optional(Type.String({ maxLength: momentLengthMax, description }))

const time = {
  from: moment('From this ISO 8601 moment on, rounded down; a day before `to` unless given.'),
  to: moment('Up to this ISO 8601 moment, rounded up; now unless given.'),
}
const filters = {
  workflow: some(identifierText({ maxLength: 255 }), 'Any of: the workflow’s identifier, or its `_id`.'),
  channel: some(literals(runnableStepTypes), 'Any of: the channel; for steps, the type of the step.'),
  provider: some(identifierText({ maxLength: 255 }), 'Any of: the provider’s id; `none` where none had to do with it.'),
}
const groupBy = some(literals(countGroups), 'What to tell apart; everything together unless given.')

const workflow = Type.Object(
  { _id: Type.String(), identifier: Type.String(), name: Type.String() },
  { title: 'CountedWorkflow' },
)
const group: TProperties = {
  workflow: Type.Optional(workflow),
  channel: Type.Optional(Type.String()),
  provider: Type.Optional(Type.String()),
  outcome: Type.Optional(Type.String()),
}
const range = {
  from: timestamp({ description: 'As asked, widened to whole steps.' }),
  to: timestamp({ description: 'Not included.' }),
}

const counts = Type.Object(
  {
    measure: literals(countMeasures),
    ...range,
    step: literals(countGrains),
    zone: Type.String(),
    starts: Type.Array(timestamp(), { description: 'When each step starts.' }),
    total: Type.Integer(),
    series: Type.Array(
      Type.Object(
        {
          ...group,
          total: Type.Integer(),
          counts: Type.Array(Type.Integer(), { description: 'One a start, in their order.' }),
        },
        { title: 'CountSeries' },
      ),
      { description: 'The largest first; those without any are left out.' },
    ),
  },
  { title: 'Counts' },
)
const milliseconds = Type.Integer({ description: 'In milliseconds, within 9 %.' })
const deliveryTimes = Type.Object(
  {
    ...range,
    data: Type.Array(
      Type.Object(
        {
          workflow: Type.Optional(workflow),
          channel: Type.Optional(Type.String()),
          provider: Type.Optional(Type.String()),
          count: Type.Integer({ description: 'Steps that reached somebody.' }),
          p50Ms: milliseconds,
          p95Ms: milliseconds,
          p99Ms: milliseconds,
        },
        { title: 'DeliveryTime' },
      ),
      { description: 'Those with the most first.' },
    ),
  },
  { title: 'DeliveryTimes' },
)
const failures = Type.Object(
  {
    ...range,
    total: Type.Integer({ description: 'All of them, those that are not listed too.' }),
    data: Type.Array(
      Type.Object(
        {
          code: Type.String({ description: 'The kind of the execution detail that tells of it.' }),
          reason: Type.Optional(
            Type.String({ description: 'Why a provider refused, or the id of the message’s error.' }),
          ),
          detail: Type.String({ description: 'The same in words.' }),
          channel: Type.String(),
          provider: Type.String(),
          outcome: literals(['failed', 'unsure']),
          count: Type.Integer(),
        },
        { title: 'CountedFailure' },
      ),
    ),
  },
  { title: 'CountedFailures' },
)
const queue = Type.Object(
  {
    max: Type.Integer({ description: 'Where counting stops.' }),
    lanes: Type.Array(
      Type.Object(
        {
          queue: literals(['jobs', 'tasks']),
          lane: literals(laneNames),
          due: Type.Integer({ description: 'Due, and in nobody’s hands.' }),
          oldestMs: Type.Integer({ description: 'How long the first of it has been due.' }),
          inHand: Type.Integer({ description: 'Being worked on.' }),
          waiting: Type.Integer({ description: 'For their moment: delays, digests, tries to come.' }),
        },
        { title: 'QueueLane' },
      ),
    ),
    buried: Type.Object({ jobs: Type.Integer(), tasks: Type.Integer() }, { title: 'BuriedCounts' }),
  },
  { title: 'QueueCounts' },
)

const shared = { tag: 'Counts', category: 'global', method: 'GET', scope: 'read' } as const

export const countRoutes = [
  route({
    ...shared,
    path: '/v1/counts',
    operationId: 'retrieveCounts',
    summary: 'Count what happened over time',
    description:
      'Messages by what became of them, or what else `measure` names, in steps of a minute, an hour or a day. Filters are joined by “and”, values of one filter by “or”.',
    query: Type.Object({
      measure: Type.Optional(literals(countMeasures, { default: 'messages', description: 'What to count.' })),
      ...time,
      step: Type.Optional(
        literals(countGrains, { description: 'Minutes up to 6 hours, hours up to 14 days, else days, unless given.' }),
      ),
      zone: Type.Optional(
        Type.String({
          maxLength: zoneLengthMax,
          description: 'Whose days, such as `Europe/Berlin`; UTC unless given.',
        }),
      ),
      groupBy,
      ...filters,
      outcome: some(literals(outcomes), 'Any of: what became of it.'),
    }),
    replies: { 200: counts },
    errors: [404],
    handle: async ({ db, world }, { caller, query }) =>
      ok(await readCounts(db, caller.environment, query, world.now())),
  }),
  route({
    ...shared,
    path: '/v1/counts/delivery-times',
    operationId: 'retrieveDeliveryTimes',
    summary: 'Retrieve delivery times',
    description:
      'From the acceptance of events to the first message of a step that was sent, waits that the workflow asks for included.',
    query: Type.Object({ ...time, groupBy, ...filters }),
    replies: { 200: deliveryTimes },
    errors: [404],
    handle: async ({ db, world }, { caller, query }) =>
      ok(await readDeliveryTimes(db, caller.environment, query, world.now())),
  }),
  route({
    ...shared,
    path: '/v1/counts/failures',
    operationId: 'retrieveFailureCounts',
    summary: 'List the most frequent failures',
    description: 'Messages that failed or perhaps did, and steps that failed without a message, by what went wrong.',
    query: Type.Object({
      ...time,
      ...filters,
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: failuresListedMax, default: 10, description: 'How many at the most.' }),
      ),
    }),
    replies: { 200: failures },
    errors: [404],
    handle: async ({ db, world }, { caller, query }) =>
      ok(await readFailures(db, caller.environment, query, world.now())),
  }),
  route({
    ...shared,
    path: '/v1/counts/queue',
    operationId: 'retrieveQueueCounts',
    summary: 'Retrieve the state of the queue',
    description:
      'Of this environment: how much is due and for how long, by lane; what is worked on, waits or was buried.',
    replies: { 200: queue },
    handle: async ({ db, queue: { clock } }, { caller }) => ok(await readQueue(db, caller.environment, clock)),
  }),
]

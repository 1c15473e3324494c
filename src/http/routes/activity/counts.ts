// Counts: /v1/counts, what happened over time, how long it took, what failed, and what waits.
import type { TProperties } from 'typebox'
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { countGrains, countGroups, countMeasures, measureFacts } from '../../../domain/insight/counts.ts'
import { runnableStepTypes } from '../../../domain/workflows/workflow.ts'
import { failuresListedMax, readCounts, readDeliveryTimes, readFailures } from '../../../read/counts/counts.ts'
import { readQueue } from '../../../read/counts/counts-queue.ts'
import { laneNames } from '../../../world/meter.ts'
import { route } from '../../route.ts'
import { identifierText, literals, optionalTimestamp, timestamp } from '../../schemas.ts'

const zoneLengthMax = 64
/** More values of one filter make a query that no address can hold. */
const filterValuesMax = 100
const outcomes = [...new Set(Object.values(measureFacts).flatMap((facts) => facts.outcomes))]

const some = <Item extends Parameters<typeof Type.Array>[0]>(item: Item, description: string) =>
  Type.Optional(Type.Array(item, { maxItems: filterValuesMax, description }))

const time = {
  from: optionalTimestamp('Start of the range: an ISO 8601 timestamp, rounded down. Default: one day before `to`.'),
  to: optionalTimestamp('End of the range: an ISO 8601 timestamp, rounded up. Default: now.'),
}
const filters = {
  workflow: some(
    identifierText({ maxLength: 255 }),
    'The identifier or `_id` of the workflow; any of the values matches.',
  ),
  channel: some(literals(runnableStepTypes), 'The channel, or for steps the step type; any of the values matches.'),
  provider: some(
    identifierText({ maxLength: 255 }),
    'The id of the provider, or `none` if no provider was involved; any of the values matches.',
  ),
}
const groupBy = some(literals(countGroups), 'What to group by. Default: one total.')

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
  from: timestamp({ description: 'As requested, widened to whole steps.' }),
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
          counts: Type.Array(Type.Integer(), { description: 'One value per entry of `starts`, in the same order.' }),
        },
        { title: 'CountSeries' },
      ),
      { description: 'Largest first; groups without any are omitted.' },
    ),
  },
  { title: 'Counts' },
)
const milliseconds = Type.Integer({ description: 'In milliseconds, within 9 %.' })
const nullableMilliseconds = Type.Union([Type.Integer(), Type.Null()])
const deliveryTimes = Type.Object(
  {
    ...range,
    step: Type.Optional(literals(countGrains, { description: 'As requested; absent if it was not.' })),
    starts: Type.Optional(Type.Array(timestamp(), { description: 'When each step starts, if `step` was requested.' })),
    data: Type.Array(
      Type.Object(
        {
          workflow: Type.Optional(workflow),
          channel: Type.Optional(Type.String()),
          provider: Type.Optional(Type.String()),
          count: Type.Integer({ description: 'Steps that sent at least one message.' }),
          p50Ms: milliseconds,
          p95Ms: milliseconds,
          p99Ms: milliseconds,
          steps: Type.Optional(
            Type.Array(
              Type.Object(
                { count: Type.Integer(), p50Ms: nullableMilliseconds, p95Ms: nullableMilliseconds },
                { title: 'DeliveryTimeStep' },
              ),
              { description: 'One entry per entry of `starts`, in the same order; null where nothing was delivered.' },
            ),
          ),
        },
        { title: 'DeliveryTime' },
      ),
      { description: 'Most frequent first.' },
    ),
  },
  { title: 'DeliveryTimes' },
)
const failures = Type.Object(
  {
    ...range,
    total: Type.Integer({ description: 'The total, including failures that are not listed.' }),
    data: Type.Array(
      Type.Object(
        {
          code: Type.String({ description: 'The code of the execution detail that reports it.' }),
          reason: Type.Optional(
            Type.String({ description: 'Why a provider refused, or the id of the message’s error.' }),
          ),
          detail: Type.String({ description: 'The same as a sentence.' }),
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
    max: Type.Integer({ description: 'The highest number that is counted to.' }),
    lanes: Type.Array(
      Type.Object(
        {
          queue: literals(['jobs', 'tasks']),
          lane: literals(laneNames),
          due: Type.Integer({ description: 'Due and not leased by a worker.' }),
          oldestMs: Type.Integer({ description: 'How long the oldest of them has been due.' }),
          inHand: Type.Integer({ description: 'Being worked on.' }),
          waiting: Type.Integer({ description: 'Waiting for a time: delays, digests, upcoming retries.' }),
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
      'Messages by result, or another `measure`, in steps of a minute, an hour or a day. Filters are combined by “and”, the values of one filter by “or”.',
    query: Type.Object({
      measure: Type.Optional(literals(countMeasures, { default: 'messages', description: 'What to count.' })),
      ...time,
      step: Type.Optional(
        literals(countGrains, {
          description: 'Default: minutes for up to 6 hours, hours for up to 14 days, otherwise days.',
        }),
      ),
      zone: Type.Optional(
        Type.String({
          maxLength: zoneLengthMax,
          description: 'The time zone of the days, such as `Europe/Berlin`. Default: UTC.',
        }),
      ),
      groupBy,
      ...filters,
      outcome: some(literals(outcomes), 'The result; any of the values matches.'),
    }),
    replies: { 200: counts },
    errors: [404],
    handle: async ({ db, world }, { principal, query }) =>
      ok(await readCounts(db, principal.environment, query, world.now())),
  }),
  route({
    ...shared,
    path: '/v1/counts/delivery-times',
    operationId: 'retrieveDeliveryTimes',
    summary: 'Retrieve delivery times',
    description:
      'The time from accepting an event to the first message that a step sent, including the waits in the workflow.',
    query: Type.Object({
      ...time,
      step: Type.Optional(
        literals(countGrains, { description: 'Also returns the times of each step of the range by itself.' }),
      ),
      zone: Type.Optional(
        Type.String({ maxLength: zoneLengthMax, description: 'The time zone of the days. Default: UTC.' }),
      ),
      groupBy,
      ...filters,
    }),
    replies: { 200: deliveryTimes },
    errors: [404],
    handle: async ({ db, world }, { principal, query }) =>
      ok(await readDeliveryTimes(db, principal.environment, query, world.now())),
  }),
  route({
    ...shared,
    path: '/v1/counts/failures',
    operationId: 'retrieveFailureCounts',
    summary: 'List the most frequent failures',
    description: 'Messages that failed or may have failed, and steps that failed without a message, grouped by cause.',
    query: Type.Object({
      ...time,
      ...filters,
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: failuresListedMax,
          default: 10,
          description: 'The maximum number of results.',
        }),
      ),
    }),
    replies: { 200: failures },
    errors: [404],
    handle: async ({ db, world }, { principal, query }) =>
      ok(await readFailures(db, principal.environment, query, world.now())),
  }),
  route({
    ...shared,
    path: '/v1/counts/queue',
    operationId: 'retrieveQueueCounts',
    summary: 'Retrieve the state of the queue',
    description:
      'For this environment: how many jobs are due and for how long, by lane; how many are running, waiting or buried.',
    replies: { 200: queue },
    handle: async ({ db, queue: { clock } }, { principal }) => ok(await readQueue(db, principal.environment, clock)),
  }),
]

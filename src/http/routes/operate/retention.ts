// How long data is kept: /v1/retention.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { findRetention } from '../../../read/operate/retention.ts'
import { route } from '../../route.ts'
import { nullableString, timestamp } from '../../schemas.ts'

const month = (description: string) => nullableString({ description })

const retention = Type.Object(
  {
    retentionDays: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: 'How many days data is kept; null if everything is kept.',
    }),
    oldestEventAt: nullableString({ format: 'date-time', description: 'In this environment; null if there is none.' }),
    oldestMonth: month('The oldest month stored, such as `2026-01`, over all environments.'),
    nextDrop: Type.Union(
      [
        Type.Object({
          month: Type.String(),
          at: timestamp({ description: 'When the whole month has expired. It is dropped within the following hour.' }),
        }),
        Type.Null(),
      ],
      { description: 'What is dropped next; null if everything is kept.' },
    ),
    keptMonths: Type.Array(Type.String(), {
      description:
        'Months that have expired but are kept, because something in them still has to run, to return from a snooze or to be sent by a digest.',
    }),
    lastDroppedAt: nullableString({ format: 'date-time' }),
  },
  { title: 'Retention' },
)

export const retentionRoutes = [
  route({
    tag: 'Environments',
    category: 'configuration',
    method: 'GET',
    path: '/v1/retention',
    operationId: 'getRetention',
    summary: 'Retrieve data retention',
    description:
      'Events, notifications, steps and messages are dropped by the month of their event, one whole month at a time, once all of it is older than `POSTHORN_RETENTION_DAYS`.',
    scope: 'read',
    replies: { 200: retention },
    handle: async ({ db, world, retentionDays }, { principal }) =>
      ok(await findRetention(db, principal.environment, { days: retentionDays, now: world.now() })),
  }),
]

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
      description: 'How many days data is kept; null when everything is.',
    }),
    oldestEventAt: nullableString({ format: 'date-time', description: 'Of this environment; null when it has none.' }),
    oldestMonth: month('The oldest month that is there, such as `2026-01`, for all environments together.'),
    nextDrop: Type.Union(
      [
        Type.Object({
          month: Type.String(),
          at: timestamp({ description: 'When all of it is old enough. It goes within the hour after.' }),
        }),
        Type.Null(),
      ],
      { description: 'What goes next; null when everything is kept.' },
    ),
    keptMonths: Type.Array(Type.String(), {
      description:
        'Months that are old enough and stay, since something of them is still to run, to come back from a snooze or to be told by a digest.',
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
    summary: 'Retrieve the retention of data',
    description:
      'Events, notifications, their steps and messages go by the month of the event, a whole month at a time, once all of it is older than `POSTHORN_RETENTION_DAYS`.',
    scope: 'read',
    replies: { 200: retention },
    handle: async ({ db, world, retentionDays }, { caller }) =>
      ok(await findRetention(db, caller.environment, { days: retentionDays, now: world.now() })),
  }),
]

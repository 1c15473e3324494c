// What the service gave up by a fault of its own: /v1/buried.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { redriveBuried } from '../../../manage/recovery/buried.ts'
import { buriedKinds, buriedPage } from '../../../read/operate/buried.ts'
import { route } from '../../route.ts'
import { cursorPage, cursorParameters, literals, timestamp } from '../../schemas.ts'

const kind = literals(buriedKinds, { description: '`job`: a step of a notification. `task`: other work.' })
const buried = Type.Object(
  {
    _id: Type.String(),
    kind,
    reason: Type.String({ description: 'What went wrong.' }),
    claims: Type.Integer({ description: 'How often it was begun.' }),
    buriedAt: timestamp(),
    task: Type.Optional(Type.String({ description: 'Of a task: what it was to do.' })),
    notificationId: Type.Optional(Type.String()),
    transactionId: Type.Optional(Type.String()),
  },
  { title: 'Buried' },
)
const redriven = Type.Object(
  { _id: Type.String(), kind, notificationId: Type.Optional(Type.String()) },
  { title: 'RedrivenBuried' },
)
const { after, before, limit, orderDirection } = cursorParameters(['buriedAt'])
const shared = { tag: 'Recovery', category: 'global' } as const

export const buriedRoutes = [
  route({
    ...shared,
    method: 'GET',
    path: '/v1/buried',
    operationId: 'listBuried',
    summary: 'List buried steps and tasks',
    description:
      'Steps and tasks that met a fault of the service again and again, with what went wrong; newest first unless asked otherwise.',
    scope: 'read',
    query: Type.Object({ after, before, limit, orderDirection, kind: Type.Optional(kind) }),
    replies: { 200: cursorPage('BuriedPage', buried) },
    handle: async ({ db }, { caller, query }) => ok(await buriedPage(db, caller.environment, query)),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/buried/{buriedId}/redrive',
    operationId: 'redriveBuried',
    summary: 'Redrive a buried step or task',
    description:
      'A task goes on where it had come to; a step with whatever else failed of its notification, as `POST /v1/notifications/{notificationId}/redrive` does it.',
    scope: 'full',
    params: Type.Object({
      buriedId: Type.String({ maxLength: 255, description: 'The `_id` of an item of the list.' }),
    }),
    replies: { 202: redriven },
    errors: [404, 409],
    handle: ({ db, world, queue }, { caller, params, idempotency }) =>
      redriveBuried(db, world, caller, queue, { id: params.buriedId, idempotency }),
  }),
]

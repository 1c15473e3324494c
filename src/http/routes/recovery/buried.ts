// What the service buried after internal errors: /v1/buried.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { redriveBuried } from '../../../manage/recovery/buried.ts'
import { buriedKinds, buriedPage } from '../../../read/operate/buried.ts'
import { route } from '../../route.ts'
import { cursorPage, cursorParameters, literals, timestamp } from '../../schemas.ts'

const kind = literals(buriedKinds, { description: '`job`: a step of a notification. `task`: background work.' })
const buried = Type.Object(
  {
    _id: Type.String(),
    kind,
    reason: Type.String({ description: 'What went wrong.' }),
    claims: Type.Integer({ description: 'How often it was started.' }),
    buriedAt: timestamp(),
    task: Type.Optional(Type.String({ description: 'For a task: its kind.' })),
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
      'Steps and tasks that repeatedly failed because of an internal error, with the error; newest first by default.',
    scope: 'read',
    query: Type.Object({ after, before, limit, orderDirection, kind: Type.Optional(kind) }),
    replies: { 200: cursorPage('BuriedPage', buried) },
    handle: async ({ db }, { principal, query }) => ok(await buriedPage(db, principal.environment, query)),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/buried/{buriedId}/redrive',
    operationId: 'redriveBuried',
    summary: 'Redrive a buried step or task',
    description:
      'A task continues where it stopped. A step is redriven together with everything else that failed in its notification, as by `POST /v1/notifications/{notificationId}/redrive`.',
    scope: 'full',
    params: Type.Object({
      buriedId: Type.String({ maxLength: 255, description: 'The `_id` of an item of the list.' }),
    }),
    replies: { 202: redriven },
    errors: [404, 409],
    handle: ({ db, world, queue }, { principal, params, idempotency }) =>
      redriveBuried(db, world, principal, queue, { id: params.buriedId, idempotency }),
  }),
]

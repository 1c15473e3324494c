// Single notification groups: /v1/notification-groups/{id}.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { isUuid } from '../../../domain/uuid-v7.ts'
import { changeGroup, removeGroup, unknownGroup } from '../../../manage/workflows/notification-groups.ts'
import { findGroup } from '../../../store/workflows/notification-groups.ts'
import { route } from '../../route.ts'
import { identifierText } from '../../schemas.ts'
import { notificationGroup } from './workflow-schemas.ts'

const params = Type.Object({ id: Type.String({ minLength: 1, maxLength: 255, description: 'The group’s `_id`.' }) })
const shared = { tag: 'Workflows', category: 'configuration', path: '/v1/notification-groups/{id}' } as const

export const notificationGroupRoutes = [
  route({
    ...shared,
    method: 'GET',
    operationId: 'retrieveNotificationGroup',
    summary: 'Retrieve a notification group',
    scope: 'read',
    params,
    replies: { 200: notificationGroup },
    errors: [404],
    handle: async ({ db }, { principal, params }) => {
      const found = isUuid(params.id) ? await findGroup(db, principal.environment, params.id) : undefined
      if (found === undefined) throw unknownGroup(params.id)
      return ok(found)
    },
  }),
  route({
    ...shared,
    method: 'PATCH',
    operationId: 'updateNotificationGroup',
    summary: 'Rename a notification group',
    scope: 'workflows:write',
    params,
    body: Type.Object(
      { name: identifierText({ maxLength: 255 }) },
      { title: 'UpdateNotificationGroup', examples: [{ name: 'Orders and returns' }] },
    ),
    replies: { 200: notificationGroup },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, params, body, idempotency }) =>
      changeGroup(db, world, principal.environment, { id: params.id, name: body.name, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'DELETE',
    operationId: 'deleteNotificationGroup',
    summary: 'Delete a notification group',
    description: '409 if it is the default group, or if it contains workflows; the error lists them.',
    scope: 'workflows:write',
    params,
    replies: {
      200: Type.Object({ acknowledged: Type.Boolean(), status: Type.String() }, { title: 'DeletedNotificationGroup' }),
    },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      removeGroup(db, world, principal.environment, { id: params.id, author, idempotency }),
  }),
]

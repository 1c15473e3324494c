// Redrives by filter: /v1/redrives.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { isUuid } from '../../../domain/uuid-v7.ts'
import { boundsOf, withoutAbsent } from '../../../manage/recovery/redrive-filter.ts'
import { endRedrive, startRedrive, unknownRedrive } from '../../../manage/recovery/redrives.ts'
import { dryRun, redrivesPage } from '../../../read/operate/redrives.ts'
import { findRedrive } from '../../../store/events/redrives.ts'
import { route } from '../../route.ts'
import { cursorPage, cursorParameters } from '../../schemas.ts'
import { dryRunReply, redrive, redriveFilter } from './redrive-schemas.ts'

const shared = { tag: 'Recovery', category: 'global' } as const
const { after, before, limit, orderDirection } = cursorParameters(['_id'])
const ofRedrive = Type.Object({ redriveId: Type.String({ maxLength: 255 }) })
const example = {
  filter: { workflow: 'order-shipped', channel: 'email', from: '2026-01-02T00:00:00Z', to: '2026-01-03T00:00:00Z' },
}

export const redriveRoutes = [
  route({
    ...shared,
    method: 'POST',
    path: '/v1/redrives',
    operationId: 'startRedrive',
    summary: 'Redrive everything that failed and matches a filter',
    description:
      'Runs in batches in the background, in the fan-out lane. With `dryRun` nothing is changed: the response counts the matches by cause and includes a sample.',
    scope: 'full',
    cost: 20,
    body: Type.Object(
      {
        filter: redriveFilter,
        dryRun: Type.Optional(Type.Boolean({ default: false, description: 'Only report what would be redriven.' })),
      },
      { title: 'StartRedrive', examples: [example, { ...example, dryRun: true }] },
    ),
    replies: { 200: dryRunReply, 202: redrive },
    handle: async ({ db, world, queue }, { principal, body, idempotency }) => {
      if (body.dryRun !== true) return startRedrive(db, world, principal, queue, { filter: body.filter, idempotency })
      const bounds = await boundsOf(db, principal.environment, withoutAbsent(body.filter))
      return ok(await dryRun(db, principal.environment, bounds))
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/redrives',
    operationId: 'listRedrives',
    summary: 'List redrives',
    description: 'Redrives by filter and of events, newest first by default.',
    scope: 'read',
    query: Type.Object({ after, before, limit, orderDirection }),
    replies: { 200: cursorPage('RedrivePage', redrive) },
    handle: async ({ db }, { principal, query }) => ok(await redrivesPage(db, principal.environment, query)),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/redrives/{redriveId}',
    operationId: 'retrieveRedrive',
    summary: 'Retrieve the progress of a redrive',
    scope: 'read',
    params: ofRedrive,
    replies: { 200: redrive },
    errors: [404],
    handle: async ({ db }, { principal, params: { redriveId } }) => {
      const found = isUuid(redriveId) ? await findRedrive(db, principal.environment, redriveId) : undefined
      if (found === undefined) throw unknownRedrive(redriveId)
      return ok(found)
    },
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v1/redrives/{redriveId}',
    operationId: 'stopRedrive',
    summary: 'Stop a redrive',
    description: 'Notifications that were already redriven are not affected. 409 if it has finished.',
    scope: 'full',
    params: ofRedrive,
    replies: { 200: redrive },
    errors: [404, 409],
    handle: ({ db, world }, { principal, params, idempotency }) =>
      endRedrive(db, world, principal.environment, { ...params, idempotency }),
  }),
]

// Streams of the audit log: /v1/audit/streams.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { createStream, listStreams, removeStream } from '../../../manage/operate/audit-streams.ts'
import { route } from '../../route.ts'
import { literals, nullableString, timestamp, uuid } from '../../schemas.ts'

const stream = Type.Object(
  {
    _id: Type.String(),
    url: Type.String({ description: 'Empty where it was encrypted with a key that this node does not have.' }),
    position: Type.Integer({ description: 'The `seq` of the last entry that was delivered.' }),
    failures: Type.Integer({ description: 'Failed attempts in a row.' }),
    lastError: nullableString({ description: 'Why the last attempt failed; null after a delivery.' }),
    nextTryAt: nullableString({ format: 'date-time', description: 'When a failed entry is sent again.' }),
    deliveredAt: nullableString({ format: 'date-time', description: 'When an entry was delivered last.' }),
    createdAt: timestamp(),
    signingSecret: Type.String({
      description:
        'What deliveries are signed with, as a key of Standard Webhooks. `posthorn signing rotate` replaces it, with the old one signing for seven more days.',
    }),
  },
  { title: 'AuditStream' },
)
const shared = { tag: 'Audit', category: 'configuration', scope: 'full' } as const

export const auditStreamRoutes = [
  route({
    ...shared,
    method: 'GET',
    path: '/v1/audit/streams',
    operationId: 'listAuditStreams',
    summary: 'List audit streams',
    replies: { 200: Type.Array(stream) },
    handle: async ({ db, world, secretReaders }, { principal, author }) => {
      const streams = await listStreams(db, world, principal.environment)
      const holders = streams.map(({ _id, url }) => ({
        kind: 'audit-stream' as const,
        id: _id,
        name: url === '' ? 'unknown' : new URL(url).host,
      }))
      await secretReaders.note(principal, author, holders)
      return ok(streams)
    },
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/audit/streams',
    operationId: 'createAuditStream',
    summary: 'Create an audit stream',
    description:
      'Every entry is sent to the address as a POST, signed as Standard Webhooks say, in the order of the log, within seconds. An entry is sent until it is answered 2xx, and the next one after that: at least once each, with the same `webhook-id` every time. Private addresses are not called unless `POSTHORN_OUTBOUND_ALLOW` lists them.',
    body: Type.Object(
      {
        url: Type.String({ maxLength: 2048 }),
        from: Type.Optional(
          literals(['start', 'now'], {
            default: 'now',
            description: 'Whether to begin with the first entry of the log, or with what comes from now on.',
          }),
        ),
      },
      { title: 'CreateAuditStream', examples: [{ url: 'https://siem.example.com/posthorn', from: 'start' }] },
    ),
    replies: { 201: stream },
    errors: [409],
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      createStream(db, world, principal.environment, { url: body.url, from: body.from ?? 'now', author, idempotency }),
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v1/audit/streams/{streamId}',
    operationId: 'deleteAuditStream',
    summary: 'Delete an audit stream',
    params: Type.Object({ streamId: uuid() }),
    replies: { 204: null },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      removeStream(db, world, principal.environment, { id: params.streamId, author, idempotency }),
  }),
]

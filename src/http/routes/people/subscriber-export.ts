// The export of one person: /v1/subscribers/{subscriberId}/export.
import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { auditExport } from '../../../manage/people/erase-subscriber.ts'
import { unknownSubscriber } from '../../../manage/people/subscribers.ts'
import { exportLines, findExport } from '../../../read/people/export-subscriber.ts'
import { route } from '../../route.ts'
import { identifierText } from '../../schemas.ts'

export const subscriberExportRoutes = [
  route({
    tag: 'Subscribers',
    category: 'configuration',
    method: 'GET',
    path: '/v1/subscribers/{subscriberId}/export',
    operationId: 'exportSubscriber',
    summary: 'Export a person',
    description:
      'All data about a subscriber, including one that was deleted, as JSON lines with a `kind`: first a `header` with the version of the format; then `subscriber`, `preferences`, `channel`, `topic_subscription`, `suppression`, `digest_event`, `notification` (with its steps) and `message`; last an `end` with the number of lines of each kind. Without that last line the export is incomplete.',
    scope: 'full',
    cost: 100,
    params: Type.Object({ subscriberId: identifierText({ maxLength: 255 }) }),
    produces: 'application/x-ndjson',
    replies: { 200: null },
    errors: [404],
    handle: async ({ db, world }, { principal, author, params: { subscriberId }, untilGone }) => {
      const found = await findExport(db, principal.environment, subscriberId)
      if (found === undefined) throw unknownSubscriber(subscriberId)
      await auditExport(db, world, principal.environment, { subscriberId, author })
      const parts = { sealer: world.sealer, now: world.now(), gone: untilGone() }
      // As many pages are read ahead as the stream asks for: one.
      return ok(Readable.from(exportLines(db, principal.environment, found, parts), { highWaterMark: 1 }))
    },
  }),
]

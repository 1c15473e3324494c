// The outbox: /v1/outbox, what was captured instead of sent.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import type { Principal } from '../../../domain/environment.ts'
import type { OutboxFilter } from '../../../domain/messages/outbox.ts'
import { seesAddresses } from '../../../domain/messages/shown-addresses.ts'
import type { Sealer } from '../../../domain/operate/sealed.ts'
import { notFound } from '../../../domain/problem.ts'
import { clearOutbox, removeFromOutbox } from '../../../manage/messages/outbox.ts'
import type { OutboxItem } from '../../../read/messages/outbox.ts'
import { itemWithoutAddresses, outboxPage } from '../../../read/messages/outbox.ts'
import { findOutboxMessage, outboxEml, outboxHtml } from '../../../read/messages/outbox-message.ts'
import type { CursorPage } from '../../../read/page/keyset-page.ts'
import type { World } from '../../../world/world.ts'
import { route } from '../../route.ts'
import { cursorPage, cursorParameters } from '../../schemas.ts'
import { outboxFilterOf, outboxFilters, outboxItem, outboxMessage, waitMsOf } from './outbox-schemas.ts'

const shared = { tag: 'Outbox', category: 'global' } as const
const { after, before, limit } = cursorParameters(['capturedAt'])
const page = cursorPage('OutboxPage', outboxItem)
const params = Type.Object({
  messageId: Type.String({ maxLength: 255, description: 'The `_id` of an item of the list.' }),
})

/** A filter that is misspelled would else mean all of the outbox: another's message would end a wait, and all would be cleared. */
const nothingElse = { additionalProperties: false } as const

/** Whatever a template contains: no script runs, no form is sent, and only images are loaded. */
const htmlPolicy =
  "sandbox; default-src 'none'; img-src https: data:; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

const emptyPage = { data: [], next: null, previous: null, totalCount: 0, totalCountCapped: false }

const notThere = (messageId: string) => notFound(`Message ${messageId} is not in the outbox`)
const noEmail = (messageId: string) => notFound(`There is no e-mail ${messageId} in the outbox`)

const seenPage = (principal: Principal, page: CursorPage<OutboxItem>): CursorPage<OutboxItem> =>
  seesAddresses(principal) ? page : { ...page, data: page.data.map(itemWithoutAddresses) }

/** A caller who may not see a link must not find out its content by searching. */
function filterFor(sealer: Sealer, principal: Principal, query: Parameters<typeof outboxFilterOf>[0]): OutboxFilter {
  const filter = outboxFilterOf(query)
  const { recipient } = filter
  return {
    ...filter,
    ...(recipient === undefined ? {} : { recipientDigest: sealer.digest(principal.environment.id, recipient) }),
    ...(seesAddresses(principal) ? {} : { hidesLinks: true as const }),
  }
}

const sealerFor = (world: World, principal: Principal): Sealer | undefined =>
  seesAddresses(principal) ? world.sealer : undefined

export const outboxRoutes = [
  route({
    ...shared,
    method: 'GET',
    path: '/v1/outbox',
    operationId: 'listOutbox',
    summary: 'List captured messages',
    description:
      'Messages that were captured instead of sent, newest first: by the built-in providers, and by integrations and environments with `configurations.capture`. Filters are combined by “and”. The newest 10,000 messages of an environment are kept, for 7 days.',
    scope: 'outbox:read',
    query: Type.Object({ ...outboxFilters, after, before, limit }),
    replies: { 200: page },
    handle: async ({ db, world }, { principal, query }) => {
      const filter = filterFor(world.sealer, principal, query)
      const page = await outboxPage(db, principal.environment, filter, query, sealerFor(world, principal))
      return ok(seenPage(principal, page))
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/outbox/wait',
    operationId: 'waitForOutbox',
    summary: 'Wait for a captured message',
    description:
      'Responds with the first page of matching messages as soon as there is one, which may be at once. If the timeout passes, the page is empty. For test suites: trigger, then wait for the message.',
    scope: 'outbox:read',
    query: Type.Object(
      {
        ...outboxFilters,
        limit,
        timeout: Type.Optional(
          Type.String({
            maxLength: 8,
            default: '30s',
            description: 'How long to wait: `500ms`, `30s`, `1m`; a number is in seconds. At most 60 seconds.',
          }),
        ),
      },
      nothingElse,
    ),
    replies: { 200: page },
    handle: async ({ db, world, outboxWaits }, { principal, query, untilGone }) => {
      const filter = filterFor(world.sealer, principal, query)
      const how = { timeoutMs: waitMsOf(query.timeout), signal: untilGone() }
      // Nothing matches: a page and its count would scan the whole outbox twice more.
      if (!(await outboxWaits.wait(principal.environment, filter, how))) return ok(emptyPage)
      const paging = query.limit === undefined ? {} : { limit: query.limit }
      const page = await outboxPage(db, principal.environment, filter, paging, sealerFor(world, principal))
      return ok(seenPage(principal, page))
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/outbox/{messageId}',
    operationId: 'retrieveFromOutbox',
    summary: 'Retrieve a captured message',
    description: 'With everything that the provider would have received.',
    scope: 'outbox:read',
    params,
    replies: { 200: outboxMessage },
    errors: [404],
    handle: async ({ db, world }, { principal, params: { messageId } }) => {
      const found = await findOutboxMessage(db, world.sealer, principal, messageId)
      if (found === undefined) throw notThere(messageId)
      return ok(found)
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/outbox/{messageId}/eml',
    operationId: 'retrieveEmlFromOutbox',
    summary: 'Retrieve a captured e-mail as a file',
    description:
      'The message as it would have been sent by SMTP, with its attachments. Blind copies are not listed in it, as in any e-mail.',
    scope: 'outbox:read',
    cost: 20,
    params,
    produces: 'message/rfc822',
    replies: { 200: null },
    errors: [404],
    handle: async ({ db, world }, { principal, params: { messageId } }) => {
      const eml = await outboxEml(db, world.sealer, principal, messageId)
      if (eml === undefined) throw noEmail(messageId)
      return { ...ok(eml), headers: { 'content-disposition': `attachment; filename="${messageId}.eml"` } }
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/outbox/{messageId}/html',
    operationId: 'retrieveHtmlFromOutbox',
    summary: 'Retrieve the HTML of a captured e-mail',
    description: 'Served with a content security policy that runs no scripts and loads only images.',
    scope: 'outbox:read',
    params,
    produces: 'text/html; charset=utf-8',
    replies: { 200: null },
    errors: [404],
    handle: async ({ db, world }, { principal, params: { messageId } }) => {
      const html = await outboxHtml(db, world.sealer, principal, messageId)
      if (html === undefined) throw noEmail(messageId)
      return { ...ok(html), headers: { 'content-security-policy': htmlPolicy } }
    },
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v1/outbox',
    operationId: 'clearOutbox',
    summary: 'Clear the outbox',
    description:
      'Removes all messages, or those that match the filters, from the outbox. Messages and activity are unchanged.',
    scope: 'full',
    query: Type.Object(outboxFilters, nothingElse),
    replies: {
      200: Type.Object(
        { removed: Type.Integer({ description: 'How many were removed.' }) },
        { title: 'OutboxCleared' },
      ),
    },
    handle: ({ db, world }, { principal, query, idempotency }) =>
      clearOutbox(db, world, principal.environment, { filter: filterFor(world.sealer, principal, query), idempotency }),
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v1/outbox/{messageId}',
    operationId: 'removeFromOutbox',
    summary: 'Remove a message from the outbox',
    scope: 'full',
    params,
    replies: { 204: null },
    errors: [404],
    handle: ({ db, world }, { principal, params: { messageId }, idempotency }) =>
      removeFromOutbox(db, world, principal.environment, { messageId, idempotency }),
  }),
]

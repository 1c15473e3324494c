// The suppression list: /v1/suppressions.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import {
  suppressedAddressLengthMax,
  suppressionChannels,
  suppressionNoteLengthMax,
  suppressionReasons,
  suppressionsPerCallMax,
} from '../../../domain/people/suppression.ts'
import { addSuppression, addSuppressions, removeSuppression } from '../../../manage/people/suppressions.ts'
import { suppressionsPage } from '../../../read/people/suppressions.ts'
import { route } from '../../route.ts'
import { cursorPage, cursorParameters, identifierText, literals, timestamp } from '../../schemas.ts'

const suppression = Type.Object(
  {
    channel: Type.String(),
    address: Type.String({ description: 'E-mail addresses are in lower case, phone numbers without separators.' }),
    reason: Type.String(),
    source: Type.String({ description: 'Who reported it: `provider`, `recipient` or `caller`.' }),
    note: Type.Optional(Type.String()),
    createdAt: timestamp(),
  },
  { title: 'Suppression' },
)
const channel = literals(suppressionChannels, { description: 'The channel on which nothing is sent.' })
const address = identifierText({
  maxLength: suppressedAddressLengthMax,
  description: 'An e-mail address or a phone number; case, spaces, dots, brackets and dashes are ignored.',
})
const input = {
  channel,
  address,
  reason: Type.Optional(
    literals(suppressionReasons, {
      description:
        'The reason. Critical workflows still reach addresses that opted out, but no other suppressed addresses. Default: `manual`.',
    }),
  ),
  note: Type.Optional(
    Type.String({ maxLength: suppressionNoteLengthMax, description: 'A note for people who read the list.' }),
  ),
}
const example = { channel: 'email', address: 'ann@example.com', reason: 'bounced', note: 'Mailbox closed in May' }
const { after, before, limit, orderDirection } = cursorParameters(['createdAt'])
/** Fewer would match a large part of any list. */
const prefixLengthMin = 3
const shared = { tag: 'Suppressions', category: 'configuration' } as const

export const suppressionRoutes = [
  route({
    ...shared,
    method: 'GET',
    path: '/v1/suppressions',
    operationId: 'listSuppressions',
    summary: 'List suppressed addresses',
    description: 'Newest first by default. Filters are combined by “and”.',
    scope: 'read',
    query: Type.Object({
      after,
      before,
      limit,
      orderDirection,
      channel: Type.Optional(literals(suppressionChannels, { description: 'Only addresses of this channel.' })),
      reason: Type.Optional(literals(suppressionReasons, { description: 'Only addresses with this reason.' })),
      address: Type.Optional(
        Type.String({ maxLength: suppressedAddressLengthMax, description: 'Only this exact address.' }),
      ),
      addressPrefix: Type.Optional(
        Type.String({
          minLength: prefixLengthMin,
          maxLength: suppressedAddressLengthMax,
          description: 'Only addresses that start with this text.',
        }),
      ),
    }),
    replies: { 200: cursorPage('SuppressionPage', suppression) },
    handle: async ({ db }, { principal, query }) => ok(await suppressionsPage(db, principal.environment, query)),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/suppressions',
    operationId: 'addSuppression',
    summary: 'Suppress an address',
    description: 'Adds the address (201), or updates the reason and note of a listed one (200).',
    scope: 'subscribers:write',
    body: Type.Object(input, { title: 'AddSuppression', examples: [example] }),
    replies: { 200: suppression, 201: suppression },
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      addSuppression(db, world, principal.environment, { suppression: body, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/suppressions/bulk',
    operationId: 'addSuppressions',
    summary: 'Suppress many addresses',
    description: 'Either all are added or, if one is invalid, none.',
    scope: 'subscribers:write',
    cost: 100,
    body: Type.Object(
      { suppressions: Type.Array(Type.Object(input), { minItems: 1, maxItems: suppressionsPerCallMax }) },
      {
        title: 'AddSuppressions',
        examples: [{ suppressions: [example, { channel: 'sms', address: '+49 30 123456', reason: 'opted_out' }] }],
      },
    ),
    replies: {
      200: Type.Object(
        {
          added: Type.Integer({ description: 'How many were added.' }),
          updated: Type.Integer({ description: 'How many were already listed and got the new reason and note.' }),
        },
        { title: 'SuppressionCounts' },
      ),
    },
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      addSuppressions(db, world, principal.environment, { suppressions: body.suppressions, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v1/suppressions/{channel}/{address}',
    operationId: 'removeSuppression',
    summary: 'Remove a suppressed address',
    scope: 'subscribers:write',
    params: Type.Object({ channel, address }),
    replies: { 204: null },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      removeSuppression(db, world, principal.environment, { ...params, author, idempotency }),
  }),
]

// The audit log: /v1/audit.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { auditActions, resourceKinds } from '../../../domain/operate/audit.ts'
import { notFound } from '../../../domain/problem.ts'
import { auditPage, entriesPerVerificationMax, verifyAudit } from '../../../read/operate/audit.ts'
import { findAuditEntry } from '../../../store/operate/audit-log.ts'
import { route } from '../../route.ts'
import {
  cursorPage,
  cursorParameters,
  identifierText,
  literals,
  nullableFreeObject,
  nullableString,
  timestamp,
} from '../../schemas.ts'

const hash = (description: string) => Type.String({ description })
const entry = Type.Object(
  {
    seq: Type.Integer({ description: 'Counts up from 1 without gaps.' }),
    at: timestamp(),
    keyId: Type.String({
      description:
        'The id of the API key, `user:` and the id of a user, `cli` for commands, `start` for settings applied at startup.',
    }),
    keyName: Type.String({ description: 'The name of the key or user at the time, or who ran the command.' }),
    address: Type.String({ description: 'The IP address of the request, or the host of the command.' }),
    requestId: nullableString({ description: 'The `x-request-id` of the request.' }),
    action: Type.String(),
    resourceKind: Type.String(),
    resourceId: Type.String({
      description: 'For a suppression: HMAC-SHA256 of `channel:address` under the environment’s `signingSecret`.',
    }),
    resourceName: Type.String(),
    before: nullableFreeObject({ description: 'The changed fields, before; null for a creation.' }),
    after: nullableFreeObject({ description: 'The changed fields, after; null for a deletion.' }),
    previousHash: hash('The hash of the previous entry; zeros for the first entry.'),
    hash: hash('SHA-256 over the canonical JSON of the entry, its environment and the previous hash.'),
  },
  { title: 'AuditEntry' },
)
const { after, before, limit, orderDirection } = cursorParameters(['at'])
const head = Type.Union([Type.Null(), Type.Object({ seq: Type.Integer(), hash: Type.String() })], {
  description: 'The last valid entry. Store it elsewhere, and pass it as `pin` later.',
})
const verification = Type.Object(
  {
    ok: Type.Boolean({ description: 'Whether all entries checked so far are valid.' }),
    complete: Type.Boolean({ description: 'Whether the end of the log was reached.' }),
    checked: Type.Integer(),
    head,
    next: nullableString({ description: 'Pass it as `after`; null at the end of the log, or if an entry is invalid.' }),
    broken: Type.Union([
      Type.Null(),
      Type.Object({
        seq: Type.Integer({ description: 'The first invalid entry.' }),
        reason: Type.String({
          description:
            '`missing`: the entry is missing; `previous-hash`: it does not follow the previous entry; `hash`: it was changed; `mac`: it was written without the audit key; `pin`: it is not the pinned entry.',
        }),
      }),
    ]),
    keyedFrom: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description:
        'The first entry with a keyed hash, which cannot be computed from the database alone; null if the log has no key. A log that had a key and no longer has one was tampered with.',
    }),
  },
  { title: 'AuditVerification' },
)
const shared = { tag: 'Audit', category: 'configuration', method: 'GET', scope: 'full' } as const

export const auditRoutes = [
  route({
    ...shared,
    path: '/v1/audit',
    operationId: 'listAuditEntries',
    summary: 'List audit entries',
    description: 'Newest first. Secrets are redacted; only changed fields are included.',
    query: Type.Object({
      after,
      before,
      limit,
      orderDirection,
      resourceKind: Type.Optional(literals(resourceKinds)),
      resourceId: Type.Optional(identifierText({ maxLength: 600 })),
      action: Type.Optional(literals(auditActions)),
      keyId: Type.Optional(identifierText({ maxLength: 100 })),
      from: Type.Optional(timestamp({ description: 'At or after this time.' })),
      to: Type.Optional(timestamp({ description: 'Before this time.' })),
    }),
    replies: { 200: cursorPage('AuditPage', entry) },
    handle: async ({ db }, { principal, query }) => ok(await auditPage(db, principal.environment, query)),
  }),
  route({
    ...shared,
    path: '/v1/audit/verify',
    operationId: 'verifyAuditLog',
    summary: 'Verify the audit log',
    description: `Checks up to ${entriesPerVerificationMax} entries per request, from the first entry or from \`after\`.`,
    cost: 20,
    query: Type.Object({
      after: Type.Optional(Type.String({ maxLength: 100, description: 'The `next` of the previous response.' })),
      pin: Type.Optional(
        Type.String({
          maxLength: 100,
          description: 'An entry that must still exist: its `seq`, a colon, and its `hash`.',
        }),
      ),
    }),
    replies: { 200: verification },
    handle: async ({ db, world }, { principal, query }) =>
      ok(await verifyAudit(db, world.sealer, principal.environment, query)),
  }),
  route({
    ...shared,
    path: '/v1/audit/{seq}',
    operationId: 'retrieveAuditEntry',
    summary: 'Retrieve an audit entry',
    params: Type.Object({ seq: Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 }) }),
    replies: { 200: entry },
    errors: [404],
    handle: async ({ db }, { principal, params }) => {
      const found = await findAuditEntry(db, principal.environment, params.seq)
      if (found === undefined) throw notFound(`There is no entry ${params.seq} in the audit log`)
      return ok(found)
    },
  }),
]

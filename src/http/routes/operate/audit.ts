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
    seq: Type.Integer({ description: 'From 1, without a gap.' }),
    at: timestamp(),
    keyId: Type.String({ description: 'The id of the API key, `cli` for commands, `start` for settings of a start.' }),
    keyName: Type.String({ description: 'The name of the key at the time, or the user who gave the command.' }),
    address: Type.String({ description: 'Where the request came from, or the machine of the command.' }),
    requestId: nullableString({ description: 'The `x-request-id` of the call.' }),
    action: Type.String(),
    resourceKind: Type.String(),
    resourceId: Type.String({
      description: 'Of a suppression: HMAC-SHA256 of `channel:address` under the environment’s `signingSecret`.',
    }),
    resourceName: Type.String(),
    before: nullableFreeObject({ description: 'What differs, as it was; null for what was made.' }),
    after: nullableFreeObject({ description: 'What differs, as it is since; null for what was deleted.' }),
    previousHash: hash('The hash of the entry before; zeros for the first one.'),
    hash: hash('SHA-256 over the canonical JSON of the entry, its environment and the hash before it.'),
  },
  { title: 'AuditEntry' },
)
const { after, before, limit, orderDirection } = cursorParameters(['at'])
const head = Type.Union([Type.Null(), Type.Object({ seq: Type.Integer(), hash: Type.String() })], {
  description: 'The last entry that fits. Keep it elsewhere, and give it as `pin` later.',
})
const verification = Type.Object(
  {
    ok: Type.Boolean({ description: 'Whether all that was looked at fits.' }),
    complete: Type.Boolean({ description: 'Whether the end of the log was reached.' }),
    checked: Type.Integer(),
    head,
    next: nullableString({ description: 'Feed it to `after`; null at the end, or when something does not fit.' }),
    broken: Type.Union([
      Type.Null(),
      Type.Object({
        seq: Type.Integer({ description: 'The first entry that does not fit.' }),
        reason: Type.String({
          description:
            '`missing`: it is not there; `previous-hash`: it follows another one; `hash`: it was changed; `mac`: whoever wrote it did not have the audit key; `pin`: it is not the one that was pinned.',
        }),
      }),
    ]),
    keyedFrom: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description:
        'The first entry that has a keyed hash as well, which nobody can make who only holds the database; null where the log has no key. A log that had one and has none any more was tampered with.',
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
    description: 'Newest first. Secrets are struck out; only what differs is told.',
    query: Type.Object({
      after,
      before,
      limit,
      orderDirection,
      resourceKind: Type.Optional(literals(resourceKinds)),
      resourceId: Type.Optional(identifierText({ maxLength: 600 })),
      action: Type.Optional(literals(auditActions)),
      keyId: Type.Optional(identifierText({ maxLength: 100 })),
      from: Type.Optional(timestamp({ description: 'From this moment on.' })),
      to: Type.Optional(timestamp({ description: 'Before this moment.' })),
    }),
    replies: { 200: cursorPage('AuditPage', entry) },
    handle: async ({ db }, { caller, query }) => ok(await auditPage(db, caller.environment, query)),
  }),
  route({
    ...shared,
    path: '/v1/audit/verify',
    operationId: 'verifyAuditLog',
    summary: 'Verify the audit log',
    description: `Looks at up to ${entriesPerVerificationMax} entries a call, from the first one on or from where \`after\` says.`,
    cost: 20,
    query: Type.Object({
      after: Type.Optional(Type.String({ maxLength: 100, description: 'The `next` of the call before.' })),
      pin: Type.Optional(
        Type.String({
          maxLength: 100,
          description: 'An entry that must still be there: its `seq`, a colon, its `hash`.',
        }),
      ),
    }),
    replies: { 200: verification },
    handle: async ({ db, world }, { caller, query }) =>
      ok(await verifyAudit(db, world.sealer, caller.environment, query)),
  }),
  route({
    ...shared,
    path: '/v1/audit/{seq}',
    operationId: 'retrieveAuditEntry',
    summary: 'Retrieve an audit entry',
    params: Type.Object({ seq: Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 }) }),
    replies: { 200: entry },
    errors: [404],
    handle: async ({ db }, { caller, params }) => {
      const found = await findAuditEntry(db, caller.environment, params.seq)
      if (found === undefined) throw notFound(`There is no entry ${params.seq} in the audit log`)
      return ok(found)
    },
  }),
]

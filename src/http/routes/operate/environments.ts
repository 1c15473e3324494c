// Environments: /v1/environments.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { changeEnvironment } from '../../../manage/operate/environments.ts'
import { rotateSigning } from '../../../manage/operate/signing.ts'
import { ownEnvironment } from '../../../read/operate/environments.ts'
import { findEnvironmentEntry, listEnvironmentEntries } from '../../../store/operate/environment-entries.ts'
import { route } from '../../route.ts'
import { timestamp } from '../../schemas.ts'

const configurations = Type.Object(
  {
    capture: Type.Boolean({
      description:
        'Whether everything that would be sent by e-mail, SMS, push or chat is captured in the outbox instead.',
    }),
  },
  { title: 'EnvironmentConfigurations' },
)
export const environmentMembers = {
  _id: Type.String(),
  name: Type.String(),
  identifier: Type.String({
    description: 'The public identifier of the environment, for clients that must not hold a key.',
  }),
  _organizationId: Type.String(),
  _parentId: Type.Optional(Type.String({ description: 'The parent environment, as Development is of Production.' })),
  color: Type.Optional(Type.String({ description: 'The color in dashboards, such as `#ff8800`.' })),
  configurations,
  createdAt: timestamp(),
}
export const environment = Type.Object(environmentMembers, { title: 'Environment' })
const ownEnvironmentReply = Type.Object(
  {
    ...environmentMembers,
    signingSecret: Type.Optional(
      Type.String({
        description:
          'The secret that signs requests to your services. The first one signs `X-Posthorn-Signature`; after `posthorn signing rotate` it is a Standard Webhooks key (`whsec_…`), which signs `webhook-signature`. Shown only to keys with the scope `full`.',
      }),
    ),
    signingSecrets: Type.Optional(
      Type.Array(
        Type.Object(
          {
            version: Type.Integer(),
            secret: Type.String(),
            createdAt: timestamp(),
            signsUntil: Type.Optional(
              timestamp({ description: 'After a rotation, requests also carry this signature until then.' }),
            ),
          },
          { title: 'SigningSecret' },
        ),
        { description: 'All of them, newest first. Shown only to keys with the scope `full`.' },
      ),
    ),
  },
  { title: 'OwnEnvironment' },
)
const shared = { tag: 'Environments', category: 'global' } as const

export const environmentRoutes = [
  route({
    ...shared,
    method: 'GET',
    path: '/v1/environments',
    operationId: 'listEnvironments',
    summary: 'List the environments of the organization',
    scope: 'read',
    replies: { 200: Type.Array(environment) },
    handle: async ({ db }, { principal }) => ok(await listEnvironmentEntries(db, principal.environment)),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/environments/me',
    operationId: 'retrieveOwnEnvironment',
    summary: 'Retrieve the environment of the key',
    scope: 'read',
    query: Type.Object({
      secrets: Type.Optional(
        Type.Boolean({
          description: 'False leaves out the signing secrets, so that no read of them is recorded. Default: true.',
        }),
      ),
    }),
    replies: { 200: ownEnvironmentReply },
    handle: async ({ db, world, secretReaders }, { principal, author, query }) => {
      if (query.secrets === false) return ok(await findEnvironmentEntry(db, principal.environment))
      const own = await ownEnvironment(db, world.sealer, principal)
      const { _id: id, name, signingSecret } = own
      if (signingSecret !== undefined) await secretReaders.note(principal, author, [{ kind: 'environment', id, name }])
      return ok(own)
    },
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/environments/me/signing-secrets',
    operationId: 'rotateSigningSecret',
    summary: 'Rotate the signing secret',
    description:
      'Requests to your services are signed with the new secret from now on, and for seven days with the previous one as well. Links in e-mails that were already sent remain valid.',
    scope: 'full',
    replies: {
      201: Type.Object(
        {
          version: Type.Integer(),
          secret: Type.String({ description: 'A Standard Webhooks key: `whsec_…`.' }),
          createdAt: timestamp(),
          environment: Type.String({ description: 'The name of the environment.' }),
        },
        { title: 'NewSigningSecret' },
      ),
    },
    handle: ({ db, world }, { principal, author, idempotency }) =>
      rotateSigning(db, world, principal.environment, { author, idempotency }),
  }),
  route({
    ...shared,
    method: 'PATCH',
    path: '/v1/environments/me',
    operationId: 'changeOwnEnvironment',
    summary: 'Change the settings of the environment',
    description:
      'With `capture`, every message is captured in the outbox instead of sent, whichever integration is selected, starting with the next message. In-app messages, custom steps and webhook conditions are not affected.',
    scope: 'full',
    body: Type.Object(
      { configurations: Type.Partial(configurations, { title: 'ChangeEnvironmentConfigurations' }) },
      { title: 'ChangeEnvironment', examples: [{ configurations: { capture: true } }] },
    ),
    replies: {
      200: Type.Object({ _id: Type.String(), name: Type.String(), configurations }, { title: 'EnvironmentSettings' }),
    },
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      changeEnvironment(db, world, principal.environment, {
        capture: body.configurations.capture,
        author,
        idempotency,
      }),
  }),
]

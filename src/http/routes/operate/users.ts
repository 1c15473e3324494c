// Users of the dashboard: /v1/users. They belong to the organization of the caller.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import type { Principal } from '../../../domain/environment.ts'
import { emailLengthMax, emailPattern, userRoles } from '../../../domain/operate/user.ts'
import { forbidden, notFound } from '../../../domain/problem.ts'
import { changeUser, createUser, resetPassword } from '../../../manage/operate/users.ts'
import { usersPage } from '../../../read/operate/users.ts'
import { findUser } from '../../../store/operate/users.ts'
import { route } from '../../route.ts'
import { identifierText, literals, offsetPage, offsetParameters, pageLimitMax, timestamp, uuid } from '../../schemas.ts'

const nameLengthMax = 200
const roleMeaning =
  '`owner` may do everything, `editor` writes workflows, subscribers and integrations without seeing secrets, `viewer` reads; in every environment of the organization.'
const userMembers = {
  _id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: literals(userRoles, { description: roleMeaning }),
  state: literals(['active', 'invited', 'disabled'], { description: '`invited`: has no password yet.' }),
  signsInBy: Type.Array(literals(['password', 'oidc'])),
  createdAt: timestamp(),
  lastSignInAt: Type.Optional(timestamp()),
  disabledAt: Type.Optional(timestamp()),
}
const user = Type.Object(userMembers, { title: 'User' })
const linkMembers = {
  link: Type.String({
    description: 'The path of the page that sets the password, once. This is the only time it is shown.',
  }),
  linkExpiresAt: timestamp(),
}
const params = Type.Object({ userId: uuid() })
const name = identifierText({ maxLength: nameLengthMax })
const shared = { tag: 'Users', category: 'global', scope: 'full' } as const
const byWhom =
  'For owners and for sessions of sign-in links. API keys are refused: a key belongs to one environment, and users reach all of their organization.'

export const userRoutes = [
  route({
    ...shared,
    method: 'GET',
    path: '/v1/users',
    operationId: 'listUsers',
    summary: 'List users',
    description: `Newest first, including disabled ones. ${byWhom}`,
    query: Type.Object(offsetParameters(pageLimitMax)),
    replies: { 200: offsetPage('UserPage', user) },
    handle: async ({ db }, { principal, query }) => {
      const { organizationId } = managed(principal)
      return ok(await usersPage(db, organizationId, { page: query.page ?? 0, limit: query.limit ?? 10 }))
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/users/{userId}',
    operationId: 'retrieveUser',
    summary: 'Retrieve a user',
    description: byWhom,
    params,
    replies: { 200: user },
    errors: [404],
    handle: async ({ db }, { principal, params }) => {
      const found = await findUser(db, managed(principal).organizationId, params.userId)
      if (found === undefined) throw notFound(`User ${params.userId} not found`)
      return ok(found)
    },
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/users',
    operationId: 'createUser',
    summary: 'Create a user',
    description: `The answer is the only time the link is shown that sets the password; it works once, for three days. Whoever signs in by the identity provider does not need it. ${byWhom}`,
    body: Type.Object(
      {
        email: Type.String({ maxLength: emailLengthMax, pattern: emailPattern }),
        name: Type.Optional(name),
        role: literals(userRoles, { description: roleMeaning }),
      },
      { title: 'CreateUser', examples: [{ email: 'ada@example.com', name: 'Ada Lovelace', role: 'editor' }] },
    ),
    replies: { 201: Type.Object({ ...userMembers, ...linkMembers }, { title: 'NewUser' }) },
    errors: [409],
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      createUser(db, world, managed(principal), { user: body, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'PATCH',
    path: '/v1/users/{userId}',
    operationId: 'updateUser',
    summary: 'Update a user',
    description: `Members that are absent stay as they are. A role counts from the next call of the user; disabling ends all of their sessions. The last owner stays one. ${byWhom}`,
    params,
    body: Type.Object(
      {
        name: Type.Optional(name),
        role: Type.Optional(literals(userRoles, { description: roleMeaning })),
        disabled: Type.Optional(Type.Boolean()),
      },
      { title: 'UpdateUser', examples: [{ role: 'viewer' }] },
    ),
    replies: { 200: user },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, params, body, idempotency }) =>
      changeUser(db, world, managed(principal), { id: params.userId, change: body, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/users/{userId}/password-link',
    operationId: 'resetUserPassword',
    summary: 'Reset the password of a user',
    description: `Removes the password, ends all sessions of the user, and gives a link that sets another one; it works once, for three days. ${byWhom}`,
    params,
    replies: { 201: Type.Object(linkMembers, { title: 'NewPasswordLink' }) },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      resetPassword(db, world, managed(principal), { id: params.userId, author, idempotency }),
  }),
]

/** The environment, where its caller speaks for the whole organization. */
function managed({ environment, user, isOperator }: Principal): Principal['environment'] {
  if (user?.role === 'owner' || isOperator === true) return environment
  throw forbidden(
    'API keys cannot manage users: a key belongs to one environment, and users reach all of their organization. Sign in as an owner, or run `posthorn users`',
  )
}

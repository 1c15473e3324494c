// How people sign in to the dashboard: which ways there are, and setting and changing passwords.
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { Db } from '../../../db/sql.ts'
import { passwordLengthMax, passwordLengthMin } from '../../../domain/operate/password.ts'
import { emailLengthMax } from '../../../domain/operate/user.ts'
import { Problem } from '../../../domain/problem.ts'
import { havePasswords } from '../../../store/operate/users.ts'
import type { DashboardAccess } from '../../access/dashboard-access.ts'
import { refuseOtherOrigins } from '../../access/dashboard-access.ts'
import type { PasswordSignIn } from '../../access/password-sign-in.ts'
import { schemaOf } from '../../install-route.ts'
import type { Documented } from '../../route.ts'
import { nullableString } from '../../schemas.ts'
import { lookForUnknown } from '../../unknown.ts'
import { session, shownFirst } from './dashboard-sessions.ts'

/** A user's id, a dot and the secret. */
const linkLengthMax = 255

const secret = (description: string) => Type.String({ minLength: 1, maxLength: passwordLengthMax, description })
const linkText = Type.String({
  minLength: 1,
  maxLength: linkLengthMax,
  description: 'The part of the link after the `#`.',
})
const shared = { tag: 'Dashboard', opensWith: 'nothing' } as const

const ways: Documented = {
  ...shared,
  method: 'GET',
  path: '/v1/dashboard/sign-in',
  operationId: 'listSignInWays',
  summary: 'List the ways to sign in to the dashboard',
  description: 'An API key always works. Requires no authentication.',
  replies: {
    200: Type.Object(
      {
        password: Type.Boolean({ description: 'Whether there are users with a password.' }),
        oidc: nullableString({ description: 'What the identity provider is called; null where there is none.' }),
      },
      { title: 'SignInWays', examples: [{ password: true, oidc: 'Example Corp' }] },
    ),
  },
}
const set: Documented = {
  ...shared,
  method: 'POST',
  path: '/v1/dashboard/password',
  operationId: 'setPassword',
  summary: 'Set or change the password of a user',
  description: `With the link that an owner gave (\`link\`), which works once, or with the password there is (\`email\` and \`currentPassword\`). A password has ${passwordLengthMin} to ${passwordLengthMax} characters. Ends all sessions of the user and signs in again. Requires the header \`X-Posthorn-Dashboard: *\`.`,
  body: Type.Object(
    {
      link: Type.Optional(linkText),
      email: Type.Optional(Type.String({ minLength: 1, maxLength: emailLengthMax })),
      currentPassword: Type.Optional(secret('The password that is changed.')),
      password: secret('The new password.'),
    },
    {
      title: 'SetPassword',
      examples: [
        { email: 'ada@example.com', currentPassword: 'the-old-passphrase', password: 'a-new-long-passphrase' },
      ],
    },
  ),
  replies: { 201: session },
}
const owner: Documented = {
  ...shared,
  method: 'POST',
  path: '/v1/dashboard/password/link',
  operationId: 'retrievePasswordLink',
  summary: 'Retrieve whose password a link sets',
  description: 'The link stays good. Requires the header `X-Posthorn-Dashboard: *`.',
  body: Type.Object(
    { link: linkText },
    {
      title: 'PasswordLink',
      examples: [{ link: '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21.0a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ012345' }],
    },
  ),
  replies: {
    200: Type.Object({ email: Type.String(), name: Type.String() }, { title: 'PasswordLinkOwner' }),
  },
}

export const dashboardPasswordRoutes: readonly Documented[] = [ways, set, owner]

interface Parts {
  readonly access: DashboardAccess
  readonly passwords: PasswordSignIn
  readonly oidcName: string | undefined
  readonly unknownMembers: 'warn' | 'refuse'
}

export function installDashboardPasswords(app: FastifyInstance, db: Db, parts: Parts): void {
  const { access, passwords, oidcName, unknownMembers } = parts
  app.route({
    method: ways.method,
    url: ways.path,
    schema: schemaOf(ways),
    handler: async (_request, reply) => reply.send({ password: await havePasswords(db), oidc: oidcName ?? null }),
  })
  app.route({
    method: set.method,
    url: set.path,
    schema: schemaOf(set),
    onRequest: async (request) => refuseOtherOrigins(request),
    preValidation: lookForUnknown(set, unknownMembers),
    handler: async (request, reply) => {
      const { link, email, currentPassword, password = '' } = request.body as Partial<Record<string, string>>
      const isKnown = email !== undefined && currentPassword !== undefined
      if ((link !== undefined) === isKnown || (email === undefined) !== (currentPassword === undefined)) {
        throw new Problem(422, 'Give either link, or email and currentPassword')
      }
      const made = isKnown
        ? await passwords.change(request.ip, { email, password: currentPassword, newPassword: password })
        : await passwords.setByLink(request.ip, { link: link ?? '', password })
      for (const one of made) reply.header('set-cookie', access.cookieFor(one))
      return reply.code(201).send(await shownFirst(access, made))
    },
  })
  app.route({
    method: owner.method,
    url: owner.path,
    schema: schemaOf(owner),
    onRequest: async (request) => refuseOtherOrigins(request),
    preValidation: lookForUnknown(owner, unknownMembers),
    handler: async (request, reply) =>
      reply.send(await passwords.ownerOf(request.ip, (request.body as { link: string }).link)),
  })
}

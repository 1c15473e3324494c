// Sessions of older inbox clients: /v1/widgets. Their tokens are those of the inbox.
import { Type } from 'typebox'
import { created, ok } from '../../../domain/answer.ts'
import { openSession } from '../../../manage/messages/inbox-session.ts'
import { findSubscribersById } from '../../../store/people/subscribers.ts'
import { inboxRoute, openRoute } from '../../inbox-route.ts'
import { freeObject, nullableString } from '../../schemas.ts'

const shared = { tag: 'Inbox' } as const
const text = (description: string) => Type.Optional(nullableString({ maxLength: 255, description }))

export const widgetSessionRoutes = [
  openRoute({
    ...shared,
    method: 'POST',
    path: '/v1/widgets/session/initialize',
    operationId: 'openWidgetSession',
    summary: 'Open a session (older clients)',
    description: 'As `POST /v1/inbox/session`, for clients that call `/v1/widgets`. The token opens both.',
    body: Type.Object(
      {
        applicationIdentifier: text('The `identifier` of the environment.'),
        subscriberId: text('Whose inbox it is.'),
        hmacHash: text('The HMAC-SHA256 of the subscriberId in lower-case hex, keyed with a signing API key.'),
      },
      { title: 'OpenWidgetSession', examples: [{ applicationIdentifier: 'Wn3kfM2Qp0aZ', subscriberId: 'user-1' }] },
    ),
    replies: {
      201: Type.Object(
        {
          data: Type.Object({
            token: Type.String({ examples: ['eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.c2ln'] }),
            profile: Type.Object({
              _id: Type.String(),
              firstName: Type.Optional(nullableString()),
              lastName: Type.Optional(nullableString()),
              phone: Type.Optional(nullableString()),
            }),
          }),
        },
        { title: 'WidgetSessionAnswer' },
      ),
    },
    errors: [404],
    handle: async (service, { body, address }) => {
      const { db, world, inboxTokens } = service
      const request = {
        applicationIdentifier: body.applicationIdentifier ?? '',
        subscriberId: (body.subscriberId ?? '').trim().replaceAll(/\p{Cc}/gu, ''),
        subscriberHash: body.hmacHash ?? '',
        ...{ fields: {}, contextHash: '', context: {}, contexts: [], defaultSchedule: undefined },
      }
      const { reader, isSigned } = await openSession(db, world, request, {
        findEnvironment: service.findEnvironment,
        countUnsigned: () => service.countUnsigned(address),
        countReader: service.limitReader,
      })
      const [token, [row]] = await Promise.all([
        inboxTokens.sign(reader),
        findSubscribersById(db, reader.environment, [reader.id]),
      ])
      // By an id alone no one learns a phone number.
      const phone = isSigned ? row?.phone : undefined
      const profile = { _id: reader.id, firstName: row?.first_name, lastName: row?.last_name, phone }
      return created({ data: { token, profile } })
    },
  }),
  inboxRoute({
    ...shared,
    method: 'GET',
    path: '/v1/widgets/organization',
    operationId: 'retrieveWidgetOrganization',
    summary: 'Retrieve the organization (older clients)',
    description: 'Its id; colours and names belong to the page.',
    replies: {
      200: Type.Object(
        { data: Type.Object({ _id: Type.String(), name: Type.String(), branding: freeObject() }) },
        { title: 'WidgetOrganization' },
      ),
    },
    handle: async (_service, { reader }) =>
      ok({ data: { _id: reader.environment.organizationId, name: '', branding: {} } }),
  }),
  inboxRoute({
    ...shared,
    method: 'POST',
    path: '/v1/widgets/usage/log',
    operationId: 'logWidgetUsage',
    summary: 'Report usage (older clients)',
    description: 'Accepted and not recorded.',
    body: Type.Object(
      { name: Type.Optional(Type.Unknown()), payload: Type.Optional(Type.Unknown()) },
      { title: 'LogWidgetUsage', examples: [{ name: '[Widget] - opened', payload: {} }] },
    ),
    replies: {
      201: Type.Object({ data: Type.Object({ success: Type.Boolean() }) }, { title: 'WidgetUsageLogged' }),
    },
    handle: async () => created({ data: { success: true } }),
  }),
]

// Opening a session of the inbox: POST /v1/inbox/session.
import type { Static } from 'typebox'
import { Type } from 'typebox'
import { created } from '../../../domain/answer.ts'
import type { Reader } from '../../../domain/messages/inbox.ts'
import { demoIdentifierPrefix, demoSubscriberId, isDevelopment } from '../../../domain/messages/inbox.ts'
import { snoozeDaysMax } from '../../../domain/messages/message-marks.ts'
import type { SubscriberFields } from '../../../domain/people/subscriber.ts'
import { isEmail, isLocale, isTimezone } from '../../../domain/people/subscriber.ts'
import { invalidField } from '../../../domain/problem.ts'
import type { Severity } from '../../../domain/workflows/workflow.ts'
import { severities } from '../../../domain/workflows/workflow.ts'
import type { SessionRequest } from '../../../manage/messages/inbox-session.ts'
import { openSession } from '../../../manage/messages/inbox-session.ts'
import { inboxCounts } from '../../../read/messages/inbox.ts'
import type { InboxService } from '../../inbox-route.ts'
import { openRoute } from '../../inbox-route.ts'
import { readContext } from '../../request/context-request.ts'
import { Mistakes } from '../../request/mistakes.ts'
import { nullableFreeObject, nullableString } from '../../schemas.ts'
import { schedule } from '../people/preference-schemas.ts'
import { inboxSchedule, readSchedule } from './inbox-schedule.ts'

const text = (maxLength: number, description?: string) =>
  Type.Optional(nullableString({ maxLength, ...(description === undefined ? {} : { description }) }))

const subscriberMembers = {
  firstName: text(255),
  lastName: text(255),
  email: text(320),
  phone: text(255),
  avatar: text(4096),
  locale: text(64),
  timezone: text(64),
  data: Type.Optional(nullableFreeObject()),
}

const body = Type.Object(
  {
    applicationIdentifier: text(255, 'The `identifier` of the environment.'),
    subscriberId: text(255, 'The older spelling of `subscriber.subscriberId`.'),
    subscriber: Type.Optional(
      Type.Unsafe<string | null | (SubscriberFields & { subscriberId?: string | null })>({
        type: ['string', 'object', 'null'],
        maxLength: 255,
        properties: { subscriberId: nullableString({ maxLength: 255 }), ...subscriberMembers },
        description: 'The subscriber of the inbox: an id, or an object with `subscriberId` and the subscriber’s data.',
      }),
    ),
    subscriberHash: text(
      255,
      'The HMAC-SHA256 of the subscriberId in lower-case hex, keyed with a signing API key of the environment.',
    ),
    contextHash: text(255, 'The same for the `context`, written as canonical JSON.'),
    context: Type.Optional(
      nullableFreeObject({
        description:
          'Restricts the session to notifications with exactly these contexts: `{type: id}` or `{type: {id, data}}`.',
      }),
    ),
    defaultSchedule: Type.Optional(inboxSchedule),
  },
  {
    title: 'OpenInboxSession',
    examples: [{ applicationIdentifier: 'Wn3kfM2Qp0aZ', subscriber: { subscriberId: 'user-1', firstName: 'Ada' } }],
  },
)

const counts = Type.Object(
  {
    total: Type.Integer(),
    severity: Type.Object(Object.fromEntries(severities.map((name) => [name, Type.Integer()]))),
  },
  { title: 'UnreadCount', examples: [{ total: 3, severity: { high: 1, medium: 0, low: 0, none: 2 } }] },
)
const session = Type.Object(
  {
    token: Type.String({
      description: 'For `Authorization: Bearer`. Valid for 15 days unless set otherwise, for inbox requests only.',
      examples: ['eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.c2ln'],
    }),
    applicationIdentifier: Type.String({ examples: ['Wn3kfM2Qp0aZ'] }),
    totalUnreadCount: Type.Integer({ description: 'At most 100.' }),
    unreadCount: counts,
    removeNovuBranding: Type.Boolean(),
    isDevelopmentMode: Type.Boolean(),
    maxSnoozeDurationHours: Type.Integer({ examples: [snoozeDaysMax * 24] }),
    schedule: Type.Optional(schedule),
    contextKeys: Type.Array(Type.String()),
  },
  { title: 'InboxSession' },
)

export const inboxSessionRoutes = [
  openRoute({
    method: 'POST',
    path: '/v1/inbox/session',
    operationId: 'openInboxSession',
    tag: 'Inbox',
    summary: 'Open a session',
    description:
      'The first request of a page; it needs no API key. Outside Development `subscriberHash` is required, and with a `context` its `contextHash`, unless the in-app integration says `hmac: false`; in Development only if it says `hmac: true`. An unknown subscriber is created; an existing one is changed only with a valid `subscriberHash`.',
    body,
    replies: { 201: Type.Object({ data: session }, { title: 'InboxSessionAnswer' }) },
    errors: [404],
    handle: async (service, call) => {
      const { db, world, inboxTokens } = service
      const asked = requestOf(call.body)
      const request = isDemo(asked) && service.mayDemo(call.isLocal) ? demoOf(asked) : asked
      const opened = await openSession(db, world, request, {
        findEnvironment: service.findEnvironment,
        countUnsigned: () => service.countUnsigned(call.address),
        countReader: service.limitReader,
      })
      const { reader } = opened
      const [token, unreadCount] = await Promise.all([inboxTokens.sign(reader), unreadOf(service, reader)])
      const data = {
        token,
        applicationIdentifier: request.applicationIdentifier,
        totalUnreadCount: unreadCount.total,
        unreadCount,
        removeNovuBranding: true,
        isDevelopmentMode: isDevelopment(reader.environment),
        maxSnoozeDurationHours: snoozeDaysMax * 24,
        ...(opened.schedule === undefined ? {} : { schedule: opened.schedule }),
        contextKeys: reader.contextKeys,
      }
      return created({ data })
    },
  }),
]

async function unreadOf({ db }: InboxService, reader: Reader) {
  const unread = { read: false, snoozed: false }
  const filters = [unread, ...severities.map((severity) => ({ ...unread, severities: [severity] }))]
  const [total = 0, ...each] = await inboxCounts(db, reader, filters)
  const bySeverity = severities.map((name, index) => [name, each[index] ?? 0] as const)
  return { total, severity: Object.fromEntries(bySeverity) as Record<Severity, number> }
}

function requestOf(given: Static<typeof body>): SessionRequest {
  const { subscriberId: named, ...fields } =
    typeof given.subscriber === 'string' ? { subscriberId: given.subscriber } : (given.subscriber ?? {})
  const subscriberId = (named ?? given.subscriberId ?? '').trim()
  if (/\p{Cc}/u.test(subscriberId)) throw invalidField('subscriberId', 'subscriberId must not have control characters')
  const context = given.context ?? {}
  const contexts = readContext(context)
  if (contexts instanceof Mistakes) throw invalidField('context', `context ${contexts.messages.join('; ')}`)
  return {
    applicationIdentifier: given.applicationIdentifier ?? '',
    subscriberId,
    fields: fieldsOf(fields),
    subscriberHash: given.subscriberHash ?? '',
    contextHash: given.contextHash ?? '',
    context,
    contexts,
    defaultSchedule: given.defaultSchedule == null ? undefined : readSchedule('defaultSchedule', given.defaultSchedule),
  }
}

/** Neither says whose inbox it is: what a page does that was given nothing yet. */
const isDemo = ({ applicationIdentifier: identifier, subscriberId }: SessionRequest): boolean =>
  (identifier === '' || identifier.startsWith(demoIdentifierPrefix)) &&
  (subscriberId === '' || subscriberId === demoSubscriberId)

const demoOf = (request: SessionRequest): SessionRequest => ({
  ...request,
  isDemo: true,
  applicationIdentifier: `${demoIdentifierPrefix}posthorn`,
  subscriberId: demoSubscriberId,
  fields: {},
})

/** Browsers fill in zone and locale by themselves, and pages cannot control them: invalid ones are ignored. */
function fieldsOf(given: SubscriberFields): SubscriberFields {
  const { email, locale, timezone, firstName, lastName, phone, avatar, data } = given
  if (email != null && email !== '' && !isEmail(email)) {
    throw invalidField('subscriber.email', 'subscriber.email must be an e-mail address', email)
  }
  const all = {
    ...{ firstName, lastName, phone, avatar, data },
    email: email === '' ? undefined : email,
    locale: locale != null && isLocale(locale) ? locale : undefined,
    timezone: timezone != null && isTimezone(timezone) ? timezone : undefined,
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value != null)) as SubscriberFields
}

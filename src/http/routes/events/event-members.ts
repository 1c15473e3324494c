// Every member that a trigger understands, closed: what it contains beside these is reported as unknown.
import type { TSchema } from 'typebox'
import { Type } from 'typebox'
import type { UnknownMember, UnknownMembersOf } from '../../../domain/unknown-members.ts'
import { unknownMembersOf } from '../../../domain/unknown-members.ts'
import { providers } from '../../../providers/registry.ts'
import { bulkSubscriber } from '../people/subscriber-schemas.ts'
import { shownOverrides, shownRecipients } from './event-schemas.ts'

const anything = Type.Unsafe<unknown>({})
const closed = (schema: { properties: Record<string, TSchema> }): TSchema => Type.Object(schema.properties)

const providerMembers = (): Record<string, TSchema> => Object.fromEntries(providers.map(({ id }) => [id, anything]))

function overrides(): TSchema {
  const byProvider = Type.Object(providerMembers())
  const { email, sms, ...others } = shownOverrides.properties
  return Type.Object({
    ...providerMembers(),
    ...others,
    email: closed(email),
    sms: closed(sms),
    providers: byProvider,
    steps: Type.Record(Type.String(), Type.Object({ providers: byProvider, layoutId: anything })),
    channels: Type.Object({ email: Type.Object({ layoutId: anything }) }),
  })
}

const tenant = Type.Object({ identifier: anything, name: anything, data: anything })
const context = Type.Record(Type.String(), Type.Object({ id: anything, data: anything }))

/** `name` and `to` are left out by those calls that have none. */
export function eventMemberSchemas() {
  return {
    name: anything,
    to: shownRecipients as TSchema,
    payload: anything,
    overrides: overrides(),
    transactionId: anything,
    actor: bulkSubscriber as TSchema,
    tenant: tenant as TSchema,
    context: context as TSchema,
  }
}

const ofEvent: UnknownMembersOf = unknownMembersOf(() => Type.Object(eventMemberSchemas()))

/** Of one event of several, under its place in the call. */
export const unknownInEvent = (event: unknown, index: number): UnknownMember[] =>
  ofEvent(event).map((member) => ({ ...member, path: `events.${index}.${member.path}` }))

// What a trigger wants of single providers: `overrides.<providerId>`, `overrides.providers` and `overrides.steps`.
import type { Channel } from '../domain/delivery/integration.ts'
import { slugOf } from '../domain/delivery/integration.ts'
import type { Fields } from '../domain/merged.ts'
import { merged } from '../domain/merged.ts'
import type { ForProvider } from '../domain/messages/message.ts'
import type { Passthrough } from '../domain/messages/outbound-message.ts'
import { RenderError } from '../domain/workflows/rendering.ts'
import type { NotificationStep } from '../domain/workflows/workflow.ts'
import { headersIn } from './header-overrides.ts'
import { OverrideFields, optional, overrideFields } from './override-fields.ts'
import type { StepInput } from './step.ts'

/** Fields of a bucket that are for us, whatever the channel. */
export const ownMembers: readonly string[] = ['integrationIdentifier', 'customData', '_passthrough', 'deviceTokens']

const queryMax = 50
const queryLengthMax = 2_000

export interface Remaking {
  readonly channel: Channel
  /** Fields of the channel's bucket that define the message: in a provider's bucket they apply to that provider. */
  readonly members: ReadonlySet<string>
  /** The envelope as it would be if this were the channel's bucket. */
  remade?(bucket: OverrideFields): object
}

/** The envelope with the overrides of single providers. Only those with an active integration. */
export function withProviderOverrides<Envelope extends object>(
  input: StepInput,
  envelope: Envelope,
  remaking: Remaking,
): Envelope & { forProviders?: Readonly<Record<string, ForProvider>> } {
  const { overrides } = input.event
  if (Object.keys(overrides).length === 0) return envelope
  const ofChannel = input.integrations.filter((one) => one.channel === remaking.channel)
  const forProviders = [...new Set(ofChannel.map((one) => one.providerId))].flatMap((providerId) => {
    const override = overrideOf(input, envelope, providerId, remaking)
    return Object.keys(override).length === 0 ? [] : [[providerId, override] as const]
  })
  return forProviders.length === 0 ? envelope : { ...envelope, forProviders: Object.fromEntries(forProviders) }
}

/** Each wins over the one before it. */
function overrideOf({ event, step }: StepInput, envelope: object, providerId: string, remaking: Remaking): ForProvider {
  const { overrides } = event
  const legacy = overrideFields(overrides, providerId)
  const buckets = [
    legacy,
    overrideFields(overrides, 'providers').fields(providerId),
    ownBucket(step, overrides, providerId),
  ]
  let customData: Fields = {}
  let passthrough: Passthrough = {}
  for (const bucket of buckets) {
    const known = new Set([...ownMembers, ...(bucket === legacy ? remaking.members : [])])
    customData = merged(merged(customData, bucket.object('customData') ?? {}), bucket.without(known))
    passthrough = merged(passthrough as Fields, passthroughIn(bucket) as Fields)
  }
  const message = otherMembers(envelope, legacy, overrides, remaking)
  return {
    ...optional('message', notEmpty(message)),
    ...optional('customData', notEmpty(customData)),
    ...optional('passthrough', notEmpty(passthrough as Fields)),
  }
}

const notEmpty = (fields: Fields): Fields | undefined => (Object.keys(fields).length === 0 ? undefined : fields)

function otherMembers(
  envelope: object,
  legacy: OverrideFields,
  overrides: Fields,
  { channel, members, remade }: Remaking,
): Fields {
  const given = Object.entries(legacy.all()).filter(([name, value]) => members.has(name) && value !== null)
  if (given.length === 0 || remade === undefined) return {}
  const both = merged(overrideFields(overrides, channel).all(), Object.fromEntries(given))
  const other = Object.entries(remade(new OverrideFields(legacy.path, both)))
  const before = envelope as Fields
  return Object.fromEntries(other.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])))
}

/** A step is known by its id, its uuid, or its name as API v2 writes it. */
function stepNames(step: NotificationStep): string[] {
  return [step._id, step.uuid, ...(step.name === undefined ? [] : [slugOf(step.name)])].filter((name) => name !== '')
}

function ownBucket(step: NotificationStep, overrides: Fields, providerId: string): OverrideFields {
  const steps = overrideFields(overrides, 'steps')
  const name = stepNames(step).find((one) => steps.value(one) !== undefined) ?? step._id
  return steps.fields(name).fields('providers').fields(providerId)
}

function passthroughIn(bucket: OverrideFields): Passthrough {
  const given = bucket.fields('_passthrough')
  return {
    ...optional('body', given.object('body')),
    ...(given.value('headers') === undefined ? {} : { headers: headersIn(given) }),
    ...(given.value('query') === undefined ? {} : { query: queryIn(given) }),
  }
}

function queryIn(given: OverrideFields): Readonly<Record<string, string>> {
  const query = given.fields('query')
  const names = Object.keys(query.all())
  if (names.length > queryMax) throw new RenderError(given.pathOf('query'), `has more than ${queryMax} fields`)
  return Object.fromEntries(names.map((name) => [name, query.text(name, queryLengthMax) ?? '']))
}

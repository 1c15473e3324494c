// Which integrations a step could have been sent by, and why each was chosen or passed over.
import type { Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { IntegrationVerdict, WhyIntegration, WhyReason, WhyStep } from '../../domain/insight/why.ts'

/** Its current state; `changedAt` shows whether it was the same then. */
export interface KnownIntegration {
  readonly identifier: string
  readonly providerId: string
  readonly channel: string
  readonly active: boolean
  readonly primary: boolean
  readonly hasConditions: boolean
  readonly createdAt: string
  readonly changedAt: string
  readonly deletedAt: string | null
}

/** No one has more accounts for one channel. */
const integrationsShownMax = 100

/** Of the channels on which one is chosen; entries of chat and push belong to theirs. A part of another statement. */
export function knownIntegrations(environment: Environment): Statement {
  return sql`(
    select coalesce(jsonb_agg(jsonb_build_object('identifier', i.identifier, 'providerId', i.provider_id,
      'channel', i.channel, 'active', i.active, 'primary', i.is_primary,
      'hasConditions', jsonb_array_length(i.conditions) > 0, 'createdAt', i.created_at, 'changedAt', i.updated_at,
      'deletedAt', i.deleted_at) order by i.id), '[]')
    from (select * from integrations found
      where found.environment_id = ${environment.id} and found.channel in ('email', 'sms')
      order by found.id limit ${integrationsShownMax}) as i)`
}

/** Shown only if one was looked for. */
export function whyIntegrations(
  { type, reasons }: Pick<WhyStep, 'type' | 'reasons'>,
  known: readonly KnownIntegration[],
  requested: string | undefined,
): readonly WhyIntegration[] | undefined {
  const ofChannel = known.filter(({ channel }) => channel === type)
  const looks = reasons.filter(({ code }) => code === 'providerSelected' || code === 'noIntegration')
  const [first] = looks
  if (first === undefined || ofChannel.length === 0) return undefined
  const chosen = looks.flatMap(chosenBy)
  const lastAt = ofChannel.findIndex(isCalled(chosen.at(-1)))
  const then = { at: Date.parse(first.at ?? ''), chosen, requested, last: ofChannel[lastAt] }
  return ofChannel.flatMap((one, index) => {
    // Deleted before the lookup.
    if (one.deletedAt !== null && Date.parse(one.deletedAt) <= then.at) return []
    const verdict = verdictOf(one, { ...then, isOlder: lastAt < index })
    return [{ identifier: one.identifier, providerId: one.providerId, verdict, sentence: sentences[verdict] }]
  })
}

const isCalled =
  (identifier: string | undefined) =>
  (one: KnownIntegration): boolean =>
    one.identifier === identifier

function chosenBy({ code, data }: WhyReason): string[] {
  const identifier = data['integrationIdentifier']
  return code === 'providerSelected' && typeof identifier === 'string' ? [identifier] : []
}

interface Then {
  readonly at: number
  /** One after the other; the last is the one that it was left to. */
  readonly chosen: readonly string[]
  readonly requested: string | undefined
  readonly last: KnownIntegration | undefined
  /** Whether that one was created before the one that is judged. */
  readonly isOlder: boolean
}

/** By the rules of deliver/choose-integration.ts, as far as the stored data shows. */
function verdictOf(one: KnownIntegration, { at, chosen, requested, last, isOlder }: Then): IntegrationVerdict {
  if (one.identifier === chosen.at(-1)) return 'chosen'
  if (chosen.includes(one.identifier)) return 'triedBefore'
  if (Date.parse(one.createdAt) > at) return 'madeLater'
  if (requested !== undefined && one.identifier !== requested) return 'anotherWished'
  if (Date.parse(one.changedAt) > at || one.deletedAt !== null) return 'changedSince'
  if (!one.active) return 'inactive'
  if (last === undefined) return chosen.length === 0 && one.hasConditions ? 'conditionsNotMet' : 'unclear'
  // Whether it had conditions then, or was the primary one, is not kept.
  if (Date.parse(last.changedAt) > at) return 'unclear'
  if (one.hasConditions) return last.hasConditions && isOlder ? 'anotherFirst' : 'conditionsNotMet'
  if (last.hasConditions) return 'conditionsOfAnother'
  return last.primary ? 'notPrimary' : 'anotherFirst'
}

const sentences: Readonly<Record<IntegrationVerdict, string>> = {
  chosen: 'It was selected.',
  triedBefore: 'It was selected first, but could not send.',
  madeLater: 'It was created later.',
  anotherWished: 'The event requested another integration.',
  changedSince: 'It has been changed or deleted since; its earlier state is not kept.',
  inactive: 'It was inactive.',
  conditionsNotMet: 'Its conditions did not match the event.',
  conditionsOfAnother: 'Another integration has conditions that match the event, which takes precedence.',
  notPrimary: 'Another integration is the primary one.',
  anotherFirst:
    'Another suitable integration takes precedence: one that sends before one that captures, then the older one.',
  unclear: 'It was not selected; the reason has been changed since, or is not kept.',
}

// Delivers one message: one provider, once, within a bound; whatever comes of it is an Outcome.
import { grouped } from '../domain/grouped.ts'
import type { Integration } from '../domain/integration.ts'
import type { OutboundMessage } from '../domain/outbound-message.ts'
import type { Outcome } from '../domain/outcome.ts'
import { misconfigured, unsure } from '../domain/outcome.ts'
import { formMistakes } from '../providers/form.ts'
import type { Provider } from '../providers/provider.ts'
import type { World } from '../world/world.ts'

/** A third of a lease: time enough is left to record what came of the call. */
export const providerCallMs = 20_000

export interface Delivery {
  readonly provider: Provider
  readonly integration: Integration
  readonly message: OutboundMessage
}

export async function deliver(world: World, { provider, integration, message }: Delivery): Promise<Outcome> {
  const { send } = provider
  if (send === undefined) return misconfigured(`${provider.name} (${provider.id}) cannot send messages yet`)
  const mistake = mistakeOf(provider, integration)
  if (mistake !== undefined) return misconfigured(mistake)
  return inTime(
    world,
    provider,
    (outcome) => outcome,
    () => send(world, message, integration.credentials),
  )
}

/** Many messages by one call; their outcomes are in their order. */
export async function deliverTogether(
  world: World,
  { provider, integration, messages }: Omit<Delivery, 'message'> & { readonly messages: readonly OutboundMessage[] },
): Promise<readonly Outcome[]> {
  const { sendMany } = provider
  const all = (outcome: Outcome): readonly Outcome[] => messages.map(() => outcome)
  if (sendMany === undefined) return all(misconfigured(`${provider.name} (${provider.id}) sends one message at a time`))
  const mistake = mistakeOf(provider, integration)
  if (mistake !== undefined) return all(misconfigured(mistake))
  return aloneNextTime(await inTime(world, provider, all, () => sendMany(world, messages, integration.credentials)))
}

/**
 * Vendors may refuse a whole request for one message in it. Those that were refused in the same words are sent once more,
 * each alone, so that only the culprit is refused in the end. (Of recipients, vendors tell one by one.)
 */
function aloneNextTime(outcomes: readonly Outcome[]): readonly Outcome[] {
  const isOfRequest = (outcome: Outcome): outcome is Outcome & { kind: 'refused' } =>
    outcome.kind === 'refused' && (outcome.reason === 'bad-content' || outcome.reason === 'other')
  const byWords = grouped(outcomes.filter(isOfRequest), ({ detail }) => detail)
  return outcomes.map((outcome) => {
    if (!isOfRequest(outcome) || (byWords.get(outcome.detail)?.length ?? 0) < 2) return outcome
    return { kind: 'busy', detail: outcome.detail, alone: true }
  })
}

/** What a provider answers, or that it did not. */
async function inTime<Answer>(
  world: World,
  { id, name }: Provider,
  instead: (outcome: Outcome) => Answer,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<Answer>((resolve) => {
    const words = `${name} gave no answer within ${providerCallMs} ms`
    timer = setTimeout(() => resolve(instead(unsure(words))), providerCallMs)
  })
  try {
    return await Promise.race([ask(), tooLate])
  } catch (error) {
    // What was thrown is not told: only a provider knows what of it is secret.
    world.log.error({ providerId: id, name: (error as Error).name }, 'A provider threw')
    return instead(unsure(`${name} broke while sending`))
  } finally {
    clearTimeout(timer)
  }
}

/** An integration is read once and sends many messages; its form is gone through once. */
const knownMistakes = new WeakMap<Integration, { readonly mistake: string | undefined }>()

function mistakeOf(provider: Provider, integration: Integration): string | undefined {
  const known = knownMistakes.get(integration)
  if (known !== undefined) return known.mistake
  const mistakes = Object.values(formMistakes(provider.form, integration.credentials))
  const words = mistakes.flatMap(({ messages }) => messages).join('; ')
  const mistake = words === '' ? undefined : `The integration ${integration.identifier} is incomplete: ${words}`
  knownMistakes.set(integration, { mistake })
  return mistake
}

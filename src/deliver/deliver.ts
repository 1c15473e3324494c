// Delivers one message: one provider, once, within a time limit; the result is always an Outcome.
import type { Integration } from '../domain/delivery/integration.ts'
import type { Outcome } from '../domain/delivery/outcome.ts'
import { misconfigured, ofDownProvider, unsure } from '../domain/delivery/outcome.ts'
import { grouped } from '../domain/grouped.ts'
import type { OutboundMessage } from '../domain/messages/outbound-message.ts'
import { formMistakes } from '../providers/form.ts'
import type { Provider } from '../providers/provider.ts'
import { leavingWorld } from '../world/outbound/may-leave.ts'
import type { MayLeave, World } from '../world/world.ts'

/** A third of a lease: enough time is left to record the outcome of the call. */
export const providerCallMs = 20_000

export interface Delivery {
  readonly provider: Provider
  readonly integration: Integration
  readonly message: OutboundMessage
  /**
   * Called when the message is about to leave: by SMTP between the server's 354 and the content, at most once; by HTTP
   * when the connection is ready, before the first byte of every request that could send (one with a rejected token is
   * repeated). A no, or an error, makes the outcome `withheld`.
   */
  readonly mayLeave?: MayLeave | undefined
}

export async function deliver(world: World, delivery: Delivery): Promise<Outcome> {
  const { provider, integration, message, mayLeave } = delivery
  const { send } = provider
  if (send === undefined) return misconfigured(`${provider.name} (${provider.id}) cannot send messages yet`)
  const mistake = mistakeOf(provider, integration)
  if (mistake !== undefined) return misconfigured(mistake)
  return inTime(
    world,
    provider,
    mayLeave,
    (outcome) => outcome,
    (asking) => send(asking, message, integration.credentials),
  )
}

/** Many messages by one call; their outcomes are in their order. */
export async function deliverTogether(
  world: World,
  delivery: Omit<Delivery, 'message'> & { readonly messages: readonly OutboundMessage[] },
): Promise<readonly Outcome[]> {
  const { provider, integration, messages, mayLeave } = delivery
  const { sendMany } = provider
  const all = (outcome: Outcome): readonly Outcome[] => messages.map(() => outcome)
  if (sendMany === undefined) return all(misconfigured(`${provider.name} (${provider.id}) sends one message at a time`))
  const mistake = mistakeOf(provider, integration)
  if (mistake !== undefined) return all(misconfigured(mistake))
  const outcomes = await inTime(world, provider, mayLeave, all, (asking) =>
    sendMany(asking, messages, integration.credentials),
  )
  return aloneNextTime(outcomes)
}

/**
 * Vendors may reject a whole request because of one message in it. Messages rejected with the same text are sent once
 * more, each alone, so that only the failing one is rejected in the end. (For recipients, vendors report one by one.)
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

/** The provider's response, or that there was none; then nothing leaves any more. */
async function inTime<Answer>(
  world: World,
  { id, name }: Provider,
  mayLeave: MayLeave | undefined,
  instead: (outcome: Outcome) => Answer,
  ask: (asking: World) => Promise<Answer>,
): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const unlessOver = (isAllowed: boolean): boolean => isAllowed && !isOver
  const asked = (given: MayLeave) => (): boolean | Promise<boolean> => {
    const answer = !isOver && given()
    return typeof answer === 'boolean' ? answer : answer.then(unlessOver)
  }
  const tooLate = new Promise<Answer>((resolve) => {
    const words = `${name} did not respond within ${providerCallMs} ms`
    timer = setTimeout(() => resolve(instead(ofDownProvider(unsure(words)))), providerCallMs)
  })
  try {
    const asking = mayLeave === undefined ? world : leavingWorld(world, asked(mayLeave))
    return await Promise.race([ask(asking), tooLate])
  } catch (error) {
    // What was thrown is not shown: only a provider knows which parts of it are secret.
    world.log.error({ providerId: id, name: (error as Error).name }, 'A provider threw an error')
    return instead(unsure(`${name} failed unexpectedly while sending`))
  } finally {
    isOver = true
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

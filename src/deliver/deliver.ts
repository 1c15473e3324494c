// Delivers one message: one provider, once, within a bound; whatever comes of it is an Outcome.
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
  if (provider.send === undefined) return misconfigured(`${provider.name} (${provider.id}) cannot send messages yet`)
  const mistake = mistakeOf(provider, integration)
  if (mistake !== undefined) return misconfigured(mistake)
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<Outcome>((resolve) => {
    const words = `${provider.name} gave no answer within ${providerCallMs} ms`
    timer = setTimeout(() => resolve(unsure(words)), providerCallMs)
  })
  try {
    return await Promise.race([provider.send(world, message, integration.credentials), tooLate])
  } catch (error) {
    // What was thrown is not told: only a provider knows what of it is secret.
    world.log.error({ providerId: provider.id, name: (error as Error).name }, 'A provider threw')
    return unsure(`${provider.name} broke while sending`)
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

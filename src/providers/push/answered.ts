// One call to a push service: its response, or the outcome of having none.
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { OutboundError } from '../../world/outbound/outbound-error.ts'
import type { OutboundOptions, OutboundRequest, World } from '../../world/world.ts'
import { outcomeOfFailure } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { answerOf } from '../provider-answer.ts'

export async function answered(
  world: World,
  request: OutboundRequest,
  options: OutboundOptions,
): Promise<ProviderAnswer | Outcome> {
  try {
    return answerOf(await world.fetch(request, options), world.now())
  } catch (error) {
    if (error instanceof OutboundError) return outcomeOfFailure(error)
    throw error
  }
}

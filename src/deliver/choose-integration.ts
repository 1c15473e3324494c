// Which integration of a channel a message goes to, and to which next when that one cannot.
import type { StepFilter } from '../domain/conditions/condition.ts'
import type { Channel, Integration } from '../domain/delivery/integration.ts'

export interface IntegrationRequest {
  readonly channel: Channel
  /** The caller named one: that or none. */
  readonly identifier?: string | undefined
  /** Ids of those that had their turn. */
  readonly tried: readonly string[]
  /** Whether the message meets an integration's conditions. */
  passes(conditions: readonly StepFilter[]): boolean
  /** Whether it keeps messages instead of sending them. */
  captures(integration: Integration): boolean
}

/**
 * `integrations` are oldest first. Those whose conditions the message meets come first, then the primary, then the
 * other real ones. One that captures is selected at the first attempt or not at all: a message that a provider did not
 * accept would otherwise look sent.
 */
export function chooseIntegration(
  integrations: readonly Integration[],
  request: IntegrationRequest,
): Integration | undefined {
  const { identifier, tried } = request
  const isFirstTry = tried.length === 0
  const usable = integrations.filter(
    (integration) =>
      integration.channel === request.channel &&
      integration.active &&
      !integration.deleted &&
      !tried.includes(integration._id) &&
      (isFirstTry || !request.captures(integration)),
  )
  if (identifier !== undefined) return usable.find((integration) => integration.identifier === identifier)
  const forAll = usable.filter(({ conditions }) => conditions.length === 0)
  return (
    usable.find(({ conditions }) => conditions.length > 0 && request.passes(conditions)) ??
    forAll.find(({ primary }) => primary) ??
    forAll.find((integration) => !request.captures(integration)) ??
    forAll[0]
  )
}

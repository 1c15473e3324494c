// Jobs whose message could not be sent now: they come back before anything is rendered for them.

import type { Limits } from '../../deliver/limits.ts'
import { until } from '../../domain/delivery/due.ts'
import type { Channel, Integration } from '../../domain/delivery/integration.ts'
import { isCapturing } from '../../domain/delivery/integration.ts'
import type { StepType } from '../../domain/workflows/workflow.ts'
import type { Settlement } from '../../record/settlement.ts'
import { settles } from '../../record/settlement.ts'
import type { World } from '../../world/world.ts'
import type { JobFacts } from '../decide/job-facts.ts'
import type { ChoosingParts } from './outgoing.ts'
import { chooserOf } from './outgoing.ts'
import type { SendQueue } from './place-sends.ts'
import { heldOrFailed, rested } from './resting.ts'

export interface HoldingParts extends ChoosingParts {
  readonly world: Pick<World, 'random'>
  readonly limits: Limits
  readonly sends: Pick<SendQueue, 'capacity' | 'turnAt'>
}

/** Which of their integrations sends depends on nothing that is rendered. Chat and push go by the subscriber's entries. */
const chosenEarly: ReadonlySet<StepType> = new Set<StepType>(['email', 'sms'])

/**
 * Undefined if the step may continue, as most may. A finished wait, and what a test sends, is decided in any case:
 * neither comes in large numbers. `probed`: integrations whose provider is probed by a job of this batch.
 */
export function heldUnrendered(
  parts: HoldingParts,
  facts: JobFacts,
  now: Date,
  probed: Set<string>,
): Settlement | undefined {
  const { job, step, event } = facts
  const { type } = step.template
  if (!chosenEarly.has(type) || job.status !== 'queued' || event.test != null) return undefined
  const { limits, sends, world } = parts
  const isLimited = ({ _id }: Integration): boolean =>
    limits.rest(_id, now) !== undefined || limits.probe(_id, now) !== undefined || sends.capacity(_id, job.lane) <= 0
  // Nothing is selected while no integration pauses and no queue is full: selecting costs something.
  if (!facts.integrations.some(isLimited)) return undefined
  const choose = chooserOf(parts, facts, facts, { channel: type as Channel })
  const integration = rested(limits, choose, choose([]), [], now)
  if (integration === undefined || isCapturing(integration)) return undefined
  const probe = limits.probe(integration._id, now)
  const rest = limits.rest(integration._id, now) ?? (probed.has(integration._id) ? probe : undefined)
  if (rest !== undefined) return heldOrFailed(facts, { integration, rest, now, random: world.random() })
  if (probe !== undefined) probed.add(integration._id)
  if (sends.capacity(integration._id, job.lane) > 0) return undefined
  return settles(job, 'queued', { due: until(sends.turnAt(integration._id, now)) })
}

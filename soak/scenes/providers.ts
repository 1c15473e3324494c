// Providers that misbehave: slow, in fits, not at all, nonsense. The service is left alone.
import { setTimeout as sleep } from 'node:timers/promises'
import { between } from '../random.ts'
import type { Scene } from '../scene.ts'
import type { Behaviour } from '../sink/behaviour.ts'
import type { Stage } from '../stage.ts'
import { untilRepeatsMs } from './network.ts'
import { prepareOneNode } from './one-node.ts'

const faultForMs = [5_000, 12_000] as const

/** Each fault is a spell of one behaviour, in turn; between two of them the providers are well for a while. */
async function misbehave(stage: Stage, behaviours: readonly Behaviour[]): Promise<void> {
  await sleep(stage.intervalMs())
  while (stage.pace.next()) {
    await stage.sinks.behave(behaviours[(stage.pace.count - 1) % behaviours.length] ?? 'normal')
    await sleep(between(stage.random, faultForMs))
    await stage.sinks.behave('normal')
    await stage.revive()
    await sleep(stage.intervalMs())
  }
  await stage.startAll()
}

export const providerSlow: Scene = {
  name: 'provider-slow',
  what: 'One node; the providers take between two and twelve seconds for an answer, for seconds at a time.',
  // On a busy machine some answers take longer than a call may, and their outcome is unknown.
  ...{ kills: 4, events: 1_000, settleMs: untilRepeatsMs },
  prepare: prepareOneNode,
  faults: (stage) => misbehave(stage, ['slow']),
}

export const providerFaults: Scene = {
  name: 'provider-faults',
  what: 'One node; the providers respond 503, cut connections, hang, or return nonsense, whether or not they accepted the message.',
  ...{ kills: 6, events: 1_000, settleMs: untilRepeatsMs },
  prepare: prepareOneNode,
  faults: (stage) => misbehave(stage, ['flapping', 'hanging', 'garbage']),
}

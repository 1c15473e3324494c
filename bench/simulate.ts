// Simulating an event for a hundred people over HTTP, against accepting the very same event.
import { askAt, createSubscribers, createWorkflow, emailStep, inAppStep, requestText, subscriberIdOf } from './api.ts'
import { runLoad } from './load.ts'
import { compareSides, comparisonRows } from './rounds.ts'
import { scaled } from './sizes.ts'
import { withStage } from './stage.ts'
import type { Measured } from './statistics.ts'

const people = 100
const callsPerRound = scaled(100)
const rounds = 7
/** Simulating costs no more than accepting. */
const ratioBar = 1

export async function benchSimulate(): Promise<Measured[]> {
  return withStage(async (stage) => {
    // Only accepting: what is accepted is not run, as what is simulated is not.
    const service = await stage.startService({}, ['--role', 'api'])
    const ask = askAt(service.port)
    await createSubscribers(ask, people)
    const measured: Measured[] = []
    for (const [name, steps] of Object.entries({ 'in-app': [inAppStep], 'e-mail': [emailStep] })) {
      await createWorkflow(ask, name, steps)
      const to = Array.from({ length: people }, (_, index) => ({ subscriberId: subscriberIdOf(index) }))
      const event = { name, to, payload: { order: { id: 7, total: '19.90' } } }
      const round = (path: string) => async (): Promise<number> => {
        const request = requestText(path, event)
        const load = { port: service.port, clients: 1, requests: callsPerRound }
        return (await runLoad({ ...load, requestOf: () => request })).perSecond
      }
      const result = await compareSides(round('/v1/events/simulate'), round('/v1/events/trigger'), rounds)
      const names = { ourName: `${name}: simulate 100 people`, theirName: `${name}: accept 100 people` }
      measured.push(...comparisonRows(result, { ...names, unit: 'calls', bar: ratioBar }))
    }
    return measured
  })
}

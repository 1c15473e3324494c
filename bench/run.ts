// End to end with one in-app step, from the first call to the last message, against a bare script with the same row changes.
import { bareRound, startBareRows } from './accept.ts'
import { askAt, bulkRequests, createSubscribers, createWorkflow, eventsPerCall, inAppStep } from './api.ts'
import { runLoad } from './load.ts'
import { compareSides, comparisonRows } from './rounds.ts'
import { scaled } from './sizes.ts'
import { withStage } from './stage.ts'
import type { Measured } from './statistics.ts'
import { countOf, expectCount, untilDone } from './waiting.ts'

const connections = 8
const callsPerRound = scaled(80)
const rounds = 7
const subscribers = scaled(10_000)
const ratioBar = 0.5

export async function benchRun(): Promise<Measured[]> {
  return withStage(async (stage) => {
    const service = await stage.startService()
    const bare = await startBareRows(stage)
    const db = stage.open()
    const ask = askAt(service.port)
    await createWorkflow(ask, 'bench', [inAppStep])
    await createSubscribers(ask, subscribers)
    const requests = bulkRequests('bench', callsPerRound, subscribers)
    const eventsPerRound = callsPerRound * eventsPerCall
    const ours = async (): Promise<number> => {
      const startedAt = performance.now()
      const load = { port: service.port, clients: connections, requests: callsPerRound }
      await runLoad({ ...load, requestOf: (index) => requests[index] ?? '' })
      await untilDone(db)
      return eventsPerRound / ((performance.now() - startedAt) / 1000)
    }
    const theirs = async (): Promise<number> =>
      eventsPerRound / (await bareRound(bare.port, 'run', callsPerRound, connections))
    const result = await compareSides(ours, theirs, rounds)
    expectCount('messages', await countOf(db, 'messages'), eventsPerRound * (rounds + 1))
    const names = { ourName: 'Posthorn, trigger to message', theirName: 'bare script, same row changes' }
    return comparisonRows(result, { ...names, unit: 'notifications', bar: ratioBar })
  })
}

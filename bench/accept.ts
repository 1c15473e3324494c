// Bulk accept over HTTP against a bare script that inserts the same events, notifications and jobs in batches of 100.
import { askAt, bulkRequests, createSubscribers, createWorkflow, eventsPerCall, inAppStep } from './api.ts'
import { runLoad } from './load.ts'
import { compareSides, comparisonRows } from './rounds.ts'
import { scaled } from './sizes.ts'
import type { Stage } from './stage.ts'
import { withStage } from './stage.ts'
import type { Measured } from './statistics.ts'
import { countOf, expectCount } from './waiting.ts'

const connections = 8
const callsPerRound = scaled(100)
const rounds = 7
const subscribers = scaled(10_000)
const rowsPerEvent = 3
const ratioBar = 0.5

export async function benchAccept(): Promise<Measured[]> {
  return withStage(async (stage) => {
    // Only accepting: the worker's share is the next bench's.
    const service = await stage.startService({}, ['--role', 'api'])
    const bare = await startBareRows(stage)
    const ask = askAt(service.port)
    await createWorkflow(ask, 'bench', [inAppStep])
    await createSubscribers(ask, subscribers)
    const requests = bulkRequests('bench', callsPerRound, subscribers)
    const rowsPerCall = eventsPerCall * rowsPerEvent
    const ours = async (): Promise<number> => {
      const load = { port: service.port, clients: connections, requests: callsPerRound }
      const { perSecond } = await runLoad({ ...load, requestOf: (index) => requests[index] ?? '' })
      return perSecond * rowsPerCall
    }
    const theirs = async (): Promise<number> =>
      (callsPerRound * rowsPerCall) / (await bareRound(bare.port, 'accept', callsPerRound, connections))
    const result = await compareSides(ours, theirs, rounds)
    const expected = callsPerRound * eventsPerCall * (rounds + 1)
    for (const table of ['events', 'notifications', 'jobs']) {
      expectCount(table, await countOf(stage.open(), table), expected)
    }
    const names = { ourName: 'Posthorn, 100 events a call', theirName: 'bare script, 100 events a transaction' }
    return comparisonRows(result, { ...names, unit: 'rows', bar: ratioBar })
  })
}

export async function startBareRows(stage: Stage) {
  return stage.startProgram('bench/baseline/bare-rows.ts', {
    BENCH_CONNECTION: await stage.otherDatabase('bench_bare'),
  })
}

export async function bareRound(
  port: number,
  kind: 'accept' | 'run',
  batches: number,
  atOnce: number,
): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/?kind=${kind}&batches=${batches}&connections=${atOnce}`)
  return ((await answer.json()) as { seconds: number }).seconds
}

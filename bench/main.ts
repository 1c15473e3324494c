// npm run bench: the report of bench/real. npm run bench -- accept run …: other measurements the project is held to, by name;
// `bars` runs all of these that take minutes. Ratios within one run, medians of rounds.
import { benchAccept } from './accept.ts'
import { benchCounts } from './counts.ts'
import { benchDelays } from './delays.ts'
import { benchEmail } from './email.ts'
import { benchFanout } from './fanout.ts'
import { benchIdle } from './idle.ts'
import { benchImports } from './imports.ts'
import { benchLatency } from './latency.ts'
import { benchLists } from './lists.ts'
import { readOptions } from './options.ts'
import { benchPages } from './pages.ts'
import { benchFloor } from './real/floor.ts'
import { measureReal } from './real/real.ts'
import { realTitle, report } from './real/report.ts'
import { printed } from './real/table.ts'
import { benchRealtime } from './realtime.ts'
import { benchRun } from './run.ts'
import { benchSimulate } from './simulate.ts'
import { type Measured, printTable } from './statistics.ts'
import { benchUpsert } from './upsert.ts'

interface Bench {
  readonly title: string
  /** Runs only when asked for by name: it takes longer than all the others. */
  readonly onlyByName?: true
  run(): Promise<Measured[]>
}

const options = readOptions(process.argv.slice(2))

const benches: Record<string, Bench> = {
  real: {
    title: `${realTitle}: hand-made, Posthorn`,
    onlyByName: true,
    run: async () => (await measureReal(options)).map(printed),
  },
  floor: {
    title: 'What the bars ask for: hand-made, bare server, and the bar as a number',
    onlyByName: true,
    run: () => benchFloor(options),
  },
  upsert: { title: 'Subscriber upsert over HTTP, 64 clients', run: benchUpsert },
  accept: { title: 'Bulk accept over HTTP against bare inserts', run: benchAccept },
  run: { title: 'End to end, one in-app step, against bare row changes', run: benchRun },
  email: { title: 'End to end, in-app and e-mail, against a hand-made service', run: benchEmail },
  simulate: { title: 'Simulating for 100 people, against accepting', run: benchSimulate },
  latency: { title: 'Trigger to provider at 200 events a second', run: benchLatency },
  pages: { title: 'Pages of feed, messages and events, 1,000,000 rows against 10,000', run: benchPages },
  lists: { title: 'Pages of subscribers and topics, 1,000,000 rows against 10,000', run: benchLists },
  counts: { title: 'Counts over 30 days of 1,000,000 notifications, database processor time', run: benchCounts },
  delays: { title: '100,000 pending delays', run: benchDelays },
  fanout: { title: 'A topic of 1,000,000', onlyByName: true, run: benchFanout },
  idle: { title: 'At rest', run: benchIdle },
  import: { title: 'Moving in', onlyByName: true, run: benchImports },
  realtime: { title: 'Connected inboxes', onlyByName: true, run: benchRealtime },
}

const unknown = options.names.filter((name) => name !== 'bars' && !(name in benches))
if (unknown.length > 0) {
  process.stderr.write(`There is no bench ${unknown.join(', ')}; there are bars, ${Object.keys(benches).join(', ')}\n`)
  process.exit(2)
}
const missed = options.names.length === 0 ? await report(options) : await runNamed(options.names)
process.exitCode = missed === 0 ? 0 : 1

/** How many bars were missed. */
async function runNamed(names: readonly string[]): Promise<number> {
  let count = 0
  for (const [name, bench] of Object.entries(benches)) {
    if (!names.includes(name) && !(names.includes('bars') && bench.onlyByName !== true)) continue
    const startedAt = performance.now()
    const rows = await bench.run()
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
    printTable(`${bench.title} (${name}, ${seconds} s)`, rows)
    count += rows.filter((row) => row.met === false).length
  }
  return count
}

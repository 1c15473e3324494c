// npm run bench [-- upsert pages idle]: the measurements the project is held to. Ratios within one run, medians of rounds.
import { benchIdle } from './idle.ts'
import { benchPages } from './pages.ts'
import { type Measured, printTable } from './statistics.ts'
import { benchUpsert } from './upsert.ts'

const benches: Record<string, { title: string; run(): Promise<Measured[]> }> = {
  upsert: { title: 'Subscriber upsert over HTTP, 64 clients', run: benchUpsert },
  pages: { title: 'Page queries, 1,000,000 rows against 10,000', run: benchPages },
  idle: { title: 'At rest', run: benchIdle },
}

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !(name in benches))
if (unknown.length > 0) {
  process.stderr.write(`There is no bench ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}\n`)
  process.exit(2)
}
let missed = 0
for (const [name, bench] of Object.entries(benches)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  const rows = await bench.run()
  printTable(bench.title, rows)
  missed += rows.filter((row) => row.met === false).length
}
process.exitCode = missed === 0 ? 0 : 1

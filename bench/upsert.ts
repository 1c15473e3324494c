// Subscriber upserts over HTTP, 64 clients: the service against a bare Fastify running the same statements.
import { connect } from '../src/db/connect.ts'
import { startEmbeddedPostgres } from '../src/db/embedded/embedded-postgres.ts'
import { sql } from '../src/db/sql.ts'
import { silentLog } from '../src/world/log.ts'
import { type Load, runLoad } from './load.ts'
import { benchKey, startProcess, startService, withDataDirectory } from './service.ts'
import { type Measured, median, percentile } from './statistics.ts'

const clients = 64
const requestsPerRound = 8_000
const rounds = 7
const ratioBar = 0.6

export async function benchUpsert(): Promise<Measured[]> {
  return withDataDirectory(async (directory) => {
    const embedded = await startEmbeddedPostgres({ dataDirectory: directory, log: silentLog })
    const { connection } = embedded
    const admin = connect(connection, {
      poolSize: 1,
      statementTimeoutMs: 60_000,
      lockTimeoutMs: 60_000,
      log: silentLog,
    })
    await admin.run(sql`create database bench_baseline`)
    await admin.close()
    const url = `postgres://${connection.user}@localhost/${connection.database}?host=${encodeURIComponent(connection.host)}`
    const service = await startService({
      DATABASE_URL: url,
      POSTHORN_DATA_DIR: directory,
      // Limits are checked on every call, and never reached.
      POSTHORN_RATE_LIMIT_CONFIGURATION: '1000000',
    })
    const baseline = await startProcess(['--import', 'tsx', 'bench/baseline/bare-upsert-server.ts'], {
      BENCH_CONNECTION: JSON.stringify({ ...connection, database: 'bench_baseline' }),
    })
    try {
      return await compare(service.port, baseline.port)
    } finally {
      await service.stop()
      await baseline.stop()
      await embedded.stop()
    }
  })
}

async function compare(servicePort: number, baselinePort: number): Promise<Measured[]> {
  const results = { bare: [] as number[], service: [] as number[], keyed: [] as number[] }
  const latencies: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const bare = await runLoad(load(baselinePort, round, 'bare'))
    const plain = await runLoad(load(servicePort, round, 'service'))
    const keyed = await runLoad(load(servicePort, round, 'keyed'))
    // The first round warms up the compilers and the plans.
    if (round === 0) continue
    results.bare.push(bare.perSecond)
    results.service.push(plain.perSecond)
    results.keyed.push(keyed.perSecond)
    latencies.push(...plain.latenciesMs)
  }
  const ratios = results.service.map((value, index) => value / (results.bare[index] ?? Number.NaN))
  const keyedRatios = results.keyed.map((value, index) => value / (results.bare[index] ?? Number.NaN))
  const ratio = median(ratios)
  return [
    { what: 'bare Fastify, same statements', value: `${median(results.bare).toFixed(0)}/s` },
    { what: 'Posthorn', value: `${median(results.service).toFixed(0)}/s` },
    {
      what: 'Posthorn / bare, median of rounds',
      value: ratio.toFixed(2),
      bar: `≥ ${ratioBar}`,
      met: ratio >= ratioBar,
    },
    { what: 'Posthorn with idempotency keys / bare', value: median(keyedRatios).toFixed(2) },
    { what: 'Posthorn latency p50', value: `${percentile(latencies, 0.5).toFixed(1)} ms` },
    { what: 'Posthorn latency p99', value: `${percentile(latencies, 0.99).toFixed(1)} ms` },
  ]
}

/** Half of the subscribers are new and half exist: the ids of each round overlap those of the one before. */
function load(port: number, round: number, kind: 'bare' | 'service' | 'keyed'): Load {
  return {
    port,
    clients,
    requests: requestsPerRound,
    requestOf: (index) => {
      const id = round * (requestsPerRound / 2) + index
      const body = JSON.stringify({
        subscriberId: `${kind}-${id}`,
        firstName: `First ${round}`,
        lastName: `Last ${id}`,
        email: `person-${id}@example.com`,
        phone: `+4416329${id}`,
        locale: 'en-GB',
        timezone: 'Europe/London',
        data: { plan: 'team', round },
      })
      const key = kind === 'keyed' ? `idempotency-key: ${round}-${index}\r\n` : ''
      return `POST /v2/subscribers HTTP/1.1\r\nhost: localhost\r\nauthorization: ApiKey ${benchKey}\r\n${key}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    },
  }
}

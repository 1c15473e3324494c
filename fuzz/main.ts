// npm run fuzz: requests made from the OpenAPI document against the built service, until something is wrong with an answer.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { residentMegabytes } from '../bench/service.ts'
import { deadlineMs } from './judge.ts'
import { readOptions } from './options.ts'
import type { Outcome } from './run.ts'
import { run } from './run.ts'
import { startService } from './service.ts'
import { turnMsMax } from './turns.ts'

const options = readOptions(process.argv.slice(2))
console.log(`seed ${options.seed}: repeat with --seed ${options.seed} --requests ${options.requests}`)

const sayEveryMs = 10_000
let saidAt = 0
const say = (line: string): void => {
  if (!line.startsWith('FOUND') && Date.now() - saidAt < sayEveryMs) return
  saidAt = Date.now()
  console.log(line)
}

const service = await startService()
try {
  const outcome = await run(service, options, say)
  report(outcome, await residentMegabytes(service.pid))
  process.exitCode = outcome.findings.length === 0 ? 0 : 1
} finally {
  await service.stop()
}

function report(outcome: Outcome, megabytes: number): void {
  const { sent, operations, seconds, statuses, findings, turns, slowestMs, sentAgain } = outcome
  const summary = {
    seed: options.seed,
    sent,
    operations,
    seconds: Math.round(seconds),
    connections: options.connections,
    pipelining: options.pipelining,
    statuses: Object.fromEntries([...statuses].sort(([a], [b]) => a - b)),
    slowestMs,
    deadlineMs,
    sentAgain,
    turnMsMax,
    turnsOver: turns.length,
    dearestTurnMs: Math.max(0, ...turns.map(({ cpuMs }) => cpuMs)),
    dearestAloneMs: Math.max(0, ...turns.map(({ aloneMs }) => aloneMs)),
    residentMegabytes: Math.round(megabytes),
    findings: findings.length,
  }
  console.log(JSON.stringify(summary, undefined, 2))
  if (options.results === undefined) return
  mkdirSync(options.results, { recursive: true })
  writeFileSync(join(options.results, `${options.seed}.json`), `${JSON.stringify(summary, undefined, 2)}\n`)
  if (findings.length > 0)
    writeFileSync(join(options.results, `${options.seed}-findings.json`), JSON.stringify(findings, undefined, 2))
}

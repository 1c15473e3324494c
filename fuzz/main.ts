// npm run fuzz: requests made from the OpenAPI document against the built service, until something is wrong with an answer.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { residentMegabytes } from '../bench/service.ts'
import type { BodiesOutcome } from './bodies.ts'
import { sendBodies } from './bodies.ts'
import { deadlineMs } from './judge.ts'
import { readOptions } from './options.ts'
import { writeReport } from './report.ts'
import type { Outcome } from './run.ts'
import { run } from './run.ts'
import { developmentKey, startService } from './service.ts'
import type { Summary } from './summary.ts'
import { turnMsMax } from './turns.ts'

const options = readOptions(process.argv.slice(2))
if (options.report) console.log(writeReport(options.results ?? 'fuzz/results'))
else await fuzz()

async function fuzz(): Promise<void> {
  console.log(`seed ${options.seed}: repeat with --seed ${options.seed} --requests ${options.requests}`)
  const service = await startService()
  try {
    const outcome = await run(service, options, createSay())
    const megabytes = await residentMegabytes(service.pid)
    // After the rest, as in a service that has been at work.
    const bodies = options.bodies ? await sendBodies(service, developmentKey) : undefined
    show(outcome, summaryOf(outcome, megabytes, bodies))
    process.exitCode = outcome.findings.length === 0 ? 0 : 1
  } finally {
    await service.stop()
  }
}

/** Findings at once, progress now and then. */
function createSay(): (line: string) => void {
  const sayEveryMs = 10_000
  let saidAt = 0
  return (line) => {
    if (!line.startsWith('FOUND') && Date.now() - saidAt < sayEveryMs) return
    saidAt = Date.now()
    console.log(line)
  }
}

function summaryOf(outcome: Outcome, megabytes: number, bodies: BodiesOutcome | undefined): Summary {
  const { sent, operations, seconds, statuses, findings, turns, slowestMs, sentAgain, unreached } = outcome
  return {
    seed: options.seed,
    sent,
    operations,
    operationsReached: operations - unreached.length,
    seconds: Math.round(seconds),
    connections: options.connections,
    pipelining: options.pipelining,
    statuses: Object.fromEntries([...statuses].sort(([a], [b]) => a - b)),
    slowestMs,
    deadlineMs,
    sentAgain,
    turnMsMax,
    turnsOver: turns.length,
    longestTurnMs: Math.max(0, ...turns.map(({ cpuMs }) => cpuMs)),
    longestAloneMs: Math.max(0, ...turns.map(({ aloneMs }) => aloneMs)),
    residentMegabytes: Math.round(megabytes),
    findings: findings.length,
    ...(bodies === undefined ? {} : { bodies }),
  }
}

function show({ findings, unreached }: Outcome, summary: Summary): void {
  const text = JSON.stringify(summary, undefined, 2)
  console.log(text)
  if (unreached.length > 0) console.log(`No good answer of: ${unreached.join(', ')}`)
  if (options.results === undefined) return
  mkdirSync(options.results, { recursive: true })
  writeFileSync(join(options.results, `${options.seed}.json`), `${text}\n`)
  if (findings.length === 0) return
  writeFileSync(join(options.results, `${options.seed}-findings.json`), JSON.stringify(findings, undefined, 2))
}

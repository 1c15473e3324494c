// Bodies as large as a trigger takes, all at once and each as hostile as it can be: how long they take, what they hold, and
// whether anyone else waits for them.
import { request } from 'node:http'
import { Worker } from 'node:worker_threads'
import { residentMegabytes } from '../bench/service.ts'
import type { FuzzedService } from './service.ts'

const bodyBytes = 26 * 1024 * 1024

/** Each stresses another part of reading JSON: depth, width, names, numbers, escapes. */
const makers: Readonly<Record<string, () => string>> = {
  'lists of nothing': () => `[${'[],'.repeat(Math.floor(bodyBytes / 3) - 2)}[]]`,
  'names of their own': () => {
    let body = '{"name":"plain","to":"ada","payload":{"a":1'
    for (let at = 0; body.length < bodyBytes - 40; at += 1) body += `,"n${at}":1`
    return `${body}}}`
  },
  numbers: () => `{"name":"plain","to":"ada","payload":{"a":[${'1,'.repeat(Math.floor(bodyBytes / 2) - 40)}1]}}`,
  'texts that are escaped': () =>
    `{"name":"plain","to":"ada","payload":{"a":"${'\\u0061'.repeat(Math.floor(bodyBytes / 6) - 20)}"}}`,
  depth: () => {
    const levels = Math.floor(bodyBytes / 6) - 20
    return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  },
}

export interface BodiesOutcome {
  readonly bodies: number
  readonly megabytesEach: number
  readonly seconds: number
  readonly statuses: Readonly<Record<string, number>>
  readonly healthAsked: number
  readonly healthMedianMs: number
  readonly healthSlowestMs: number
  readonly residentBeforeMegabytes: number
  readonly residentPeakMegabytes: number
  readonly longestTurnMs: number
}

const lookEveryMs = 20

export async function sendBodies(service: FuzzedService, key: string): Promise<BodiesOutcome> {
  const bodies = Object.entries(makers).map(([name, make]) => ({ name, bytes: Buffer.from(make()) }))
  const residentBefore = await residentMegabytes(service.pid)
  const turnsBefore = service.turns().length
  let peak = residentBefore
  const looking = setInterval(async () => {
    peak = Math.max(peak, await residentMegabytes(service.pid))
  }, lookEveryMs)
  const asking = askHealth(service.origin)
  const startedAt = performance.now()
  const statuses = await Promise.all(
    bodies.map(async ({ name, bytes }) => [name, await statusOf(service, key, bytes)] as const),
  )
  const seconds = (performance.now() - startedAt) / 1_000
  clearInterval(looking)
  const health = await asking.stop()
  return {
    bodies: bodies.length,
    megabytesEach: 26,
    seconds: Math.round(seconds * 10) / 10,
    statuses: Object.fromEntries(statuses),
    healthAsked: health.length,
    healthMedianMs: Math.round(health[Math.floor(health.length / 2)] ?? 0),
    healthSlowestMs: Math.round(health.at(-1) ?? 0),
    residentBeforeMegabytes: Math.round(residentBefore),
    residentPeakMegabytes: Math.round(peak),
    longestTurnMs: Math.max(
      0,
      ...service
        .turns()
        .slice(turnsBefore)
        .map(({ cpuMs }) => cpuMs),
    ),
  }
}

/** In a thread of its own, so that what is sent from here delays nothing there. */
const asker = `
const { parentPort, workerData } = require('node:worker_threads')
const took = []
let isOver = false
parentPort.on('message', () => { isOver = true })
;(async () => {
  while (!isOver) {
    const askedAt = performance.now()
    const answer = await fetch(workerData.url)
    await answer.arrayBuffer()
    if (answer.status !== 200) throw new Error('/health answered ' + answer.status)
    took.push(performance.now() - askedAt)
    await new Promise((resolve) => setTimeout(resolve, ${lookEveryMs}))
  }
  parentPort.postMessage(took.sort((a, b) => a - b))
  parentPort.close()
})()`

function askHealth(origin: string): { stop(): Promise<readonly number[]> } {
  const worker = new Worker(asker, { eval: true, workerData: { url: `${origin}/health` } })
  const took = new Promise<readonly number[]>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  return {
    stop: () => {
      worker.postMessage('stop')
      return took
    },
  }
}

/** 0 where the connection was closed while the body was still being sent. */
function statusOf(service: FuzzedService, key: string, bytes: Buffer): Promise<number> {
  return new Promise((resolve) => {
    const call = request(`${service.origin}/v1/events/trigger`, {
      method: 'POST',
      headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/json', 'content-length': bytes.length },
    })
    call.on('response', (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
    })
    call.on('error', () => resolve(0))
    for (let at = 0; at < bytes.length; at += 65_536) call.write(bytes.subarray(at, at + 65_536))
    call.end()
  })
}

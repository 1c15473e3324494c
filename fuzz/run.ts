// A run: sends the requests of a seed over several connections, judges every answer, and looks for turns that cost too much.
import type { Answer, Connection } from './connections.ts'
import { openConnection } from './connections.ts'
import { readDocument } from './document.ts'
import { fault, printed, tookMs } from './judge.ts'
import { createKnown } from './known.ts'
import type { Options } from './options.ts'
import type { FuzzRequest, Source } from './requests.ts'
import { isLeftOut, requestOf } from './requests.ts'
import type { FuzzedService } from './service.ts'
import { caller, makeKeys, openSession, setUp } from './setup.ts'
import type { LongTurn, TurnWatch } from './turns.ts'
import { createTurnWatch } from './turns.ts'

export interface Finding {
  readonly what: string
  readonly request: string
  readonly full: FuzzRequest
}

export interface Outcome {
  readonly sent: number
  readonly operations: number
  readonly seconds: number
  readonly statuses: ReadonlyMap<number, number>
  readonly slowestMs: number
  readonly findings: readonly Finding[]
  readonly turns: readonly LongTurn[]
  /** Operations that no request got a good answer of. */
  readonly unreached: readonly string[]
  /** Connections that were closed before an answer came: what was under way on them was sent again, each alone. */
  readonly sentAgain: number
}

const nameOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`

type Say = (line: string) => void

/** Something is badly wrong: the rest would only repeat it. */
const findingsMax = 60
const setUpEvery = 1_000
const lookEveryMs = 1_000
/** So many requests to each operation, on the average, before turns count. */
const warmUpRounds = 3

/** It is answered when a message comes, or after up to a minute: neither its connection nor its lane waits for that. */
const isWaiting = ({ operation }: FuzzRequest): boolean => operation.path.endsWith('/wait')

export async function run(service: FuzzedService, options: Options, say: Say): Promise<Outcome> {
  const call = caller(service.origin)
  await setUp(call)
  const document = readDocument(await (await fetch(`${service.origin}/openapi.json`)).text())
  const operations = document.operations.filter(
    (operation) => !isLeftOut(operation) && nameOf(operation).includes(options.only ?? ''),
  )
  const source = { seed: options.seed, document, operations, known: createKnown(), keys: await makeKeys(call) }
  const startedAt = Date.now()
  const judge = createJudge(source, say, async () => {
    source.keys = { ...source.keys, session: await openSession(call) }
  })
  const watch = createTurnWatch(service)
  const connections = Array.from({ length: options.connections }, () =>
    openConnection(service.origin, options.pipelining),
  )
  const warmUp = Math.min(operations.length * warmUpRounds, options.requests / 2)
  let next = 0
  let pause: Promise<unknown> | undefined
  const stopping = untilStopped()
  const isOver = () =>
    stopping.isStopped ||
    next >= options.requests ||
    judge.findings.length >= findingsMax ||
    service.hasEnded() ||
    Date.now() - startedAt > options.seconds * 1_000
  const waits = createWaits()
  const ask = createAsk(watch, judge, stopping)
  const lane = async (connection: Connection): Promise<void> => {
    while (!isOver()) {
      await pause
      const request = requestOf(source, next++)
      if (next % setUpEvery === 0) await setUp(call)
      if (isWaiting(request)) await waits.add(ask(request, () => alone(service.origin, request)))
      else await ask(request, async () => (await connection.send(request)) ?? judge.again(service.origin, request))
    }
  }
  const lanes = connections.flatMap((connection) => Array.from({ length: options.pipelining }, () => lane(connection)))
  let areDone = false
  const look = async (): Promise<void> => {
    say(`${next} sent, ${judge.findings.length} found, ${watch.summary()}`)
    // What is compiled when it is first needed is compiled then, once in the life of a process.
    if (next < warmUp) return watch.forget()
    const suspects = watch.suspects()
    if (suspects.length === 0) return
    pause = watch.tryAlone(suspects, (request) => alone(service.origin, request))
    await pause
    pause = undefined
  }
  const looking = (async () => {
    while (!areDone) {
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
      await look()
    }
  })()
  await Promise.all(lanes)
  await waits.all()
  areDone = true
  await looking
  await Promise.all(connections.map((connection) => connection.close()))
  for (const { request, aloneMs } of watch.confirmed()) {
    judge.find(request, `${aloneMs} ms of processor time in one turn, sent alone`)
  }
  if (service.hasEnded()) throw new Error(`The service ended:\n${service.output().slice(-5_000)}`)
  const seconds = (Date.now() - startedAt) / 1_000
  const unreached = operations.map(nameOf).filter((name) => !judge.reached.has(name))
  return { ...judge.counts(), sent: next, operations: operations.length, seconds, turns: watch.turns(), unreached }
}

function createAsk(watch: TurnWatch, judge: ReturnType<typeof createJudge>, stopping: { isStopped: boolean }) {
  return async (request: FuzzRequest, send: () => Promise<Answer | undefined>): Promise<void> => {
    const sent = watch.sending(request)
    const answer = await send()
    watch.answered(sent)
    if (!stopping.isStopped) await judge.answer(request, answer)
  }
}

/** Calls that wait for something, beside the lanes: so many at a time. */
function createWaits(most = 16) {
  const waiting = new Set<Promise<void>>()
  return {
    add: async (wait: Promise<void>): Promise<void> => {
      const one = wait.finally(() => waiting.delete(one))
      waiting.add(one)
      if (waiting.size >= most) await Promise.race(waiting)
    },
    all: () => Promise.all(waiting),
  }
}

function untilStopped(): { isStopped: boolean } {
  const stopping = { isStopped: false }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      stopping.isStopped = true
    })
  }
  return stopping
}

/** Judges answers, and learns from them. */
function createJudge({ known }: Source, say: Say, openAgain: () => Promise<void>) {
  const statuses = new Map<number, number>()
  const findings: Finding[] = []
  const reached = new Set<string>()
  let slowestMs = 0
  let sentAgain = 0
  const find = (request: FuzzRequest, what: string): void => {
    findings.push({ what, request: printed(request), full: request })
    say(`FOUND ${what}\n  ${printed(request)}`)
  }
  return {
    findings,
    reached,
    find,
    counts: () => ({ statuses, findings, slowestMs, sentAgain }),
    /** Another's request on the same connection may have made the service close it. */
    again: (origin: string, request: FuzzRequest): Promise<Answer | undefined> => {
      sentAgain += 1
      return alone(origin, request)
    },
    answer: async (request: FuzzRequest, answer: Answer | undefined): Promise<void> => {
      if (answer === undefined) return find(request, 'no answer, sent alone')
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      if (!isWaiting(request)) slowestMs = Math.max(slowestMs, tookMs(answer))
      if (answer.status < 300) reached.add(nameOf(request.operation))
      const what = fault(request, answer)
      if (what !== undefined) find(request, what)
      if (answer.status === 401 && request.operation.access === 'inbox') await openAgain()
      if (answer.status < 300 && answer.contentType.includes('json') && answer.text.length < 1_000_000) {
        known.learn(request.path, parsed(answer.text))
      }
    },
  }
}

/** Exports are JSON line by line. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function alone(origin: string, request: FuzzRequest): Promise<Answer | undefined> {
  const connection = openConnection(origin, 1)
  try {
    return await connection.send(request)
  } finally {
    await connection.close()
  }
}

// A World for tests: time moves when set, and the network is a script.
import { createSealer } from '../../src/domain/operate/sealed.ts'
import { createIdSource } from '../../src/domain/uuid-v7.ts'
import type { Log } from '../../src/world/log.ts'
import { createMeter } from '../../src/world/meter.ts'
import { whenAnswered } from '../../src/world/outbound/may-leave.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import type { Tracer } from '../../src/world/tracer.ts'
import type { OutboundAnswer, OutboundOptions, World } from '../../src/world/world.ts'

export interface LoggedLine {
  readonly level: keyof Log
  readonly facts: object
  readonly message: string
}

export interface FakeWorld extends Omit<World, 'inboxHint'> {
  advance(ms: number): void
  /** Answers outbound calls; without one they throw. */
  onFetch: ((request: Request, options: OutboundOptions) => Promise<OutboundAnswer> | OutboundAnswer) | undefined
  readonly logged: LoggedLine[]
  /** Given by tests of traces. */
  tracer: Tracer | undefined
  inboxHint: World['inboxHint']
}

export const testEncryptionKey = Buffer.alloc(32, 7)

export function createFakeWorld(startsAt = '2026-01-02T03:04:05.678Z'): FakeWorld {
  let nowMs = Date.parse(startsAt)
  const logged: LoggedLine[] = []
  const line = (level: keyof Log) => (facts: object, message: string) => void logged.push({ level, facts, message })
  const world: FakeWorld = {
    now: () => new Date(nowMs),
    advance: (ms) => {
      nowMs += ms
    },
    sleep: async (ms) => {
      nowMs += ms
    },
    newId: createIdSource(),
    random: () => 0.5,
    onFetch: undefined,
    fetch: async (request, options = {}) => {
      const { mayLeave } = options
      const isAllowed = mayLeave === undefined || (await new Promise<boolean>((goOn) => whenAnswered(mayLeave, goOn)))
      if (!isAllowed) throw new OutboundError('withheld', `The request to ${new URL(request.url).host} was cancelled`)
      if (world.onFetch === undefined) throw new Error(`The test did not expect a call to ${request.url}`)
      return world.onFetch(request instanceof Request ? request : new Request(request.url, request), options)
    },
    sealer: createSealer([testEncryptionKey]),
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
    meter: createMeter(),
    tracer: undefined,
    inboxHint: undefined,
    logged,
  }
  return world
}

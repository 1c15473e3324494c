// The World as it is: the wall clock, random ids, the network and the process's log.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sealer } from '../domain/operate/sealed.ts'
import { createIdSource } from '../domain/uuid-v7.ts'
import type { Log } from './log.ts'
import { createMeter } from './meter.ts'
import type { OutboundFetchOptions } from './outbound/outbound-fetch.ts'
import { createAccountAddresses, createOutboundFetch } from './outbound/outbound-fetch.ts'
import type { Threads } from './threads.ts'
import type { Tracer } from './tracer.ts'
import type { World } from './world.ts'

export function createWorld(parts: {
  log: Log
  sealer: Sealer
  outbound: OutboundFetchOptions
  tracer?: Tracer | undefined
  threads?: Threads | undefined
  judgingThreads?: Threads | undefined
}): World {
  return {
    now: () => new Date(),
    sleep: async (ms, signal) => {
      await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => {})
    },
    newId: createIdSource(),
    random: Math.random,
    fetch: createOutboundFetch(parts.outbound),
    accountAddresses: createAccountAddresses(parts.outbound),
    sealer: parts.sealer,
    log: parts.log,
    meter: createMeter(),
    tracer: parts.tracer,
    threads: parts.threads,
    judgingThreads: parts.judgingThreads,
  }
}

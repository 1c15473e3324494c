// How many processes one service is, and how its database connections are divided among them.
import { availableParallelism } from 'node:os'
import { connectionsMin } from './database.ts'
import { wholeNumber } from './values.ts'

/** More cores than one machine gives to one service; beyond it, more nodes are the better answer. */
const processesMax = 64
/** `auto` takes no more: with the default pools they fit the embedded database. */
const autoMax = 8
/** If the number of connections is not set: enough for two pools of two in each process. */
const connectionsEach = 6
/** `max_connections` of the embedded database, and what is left of it for commands and migrations. */
const embeddedConnectionsMax = 60
const embeddedConnectionsSpare = 4

export interface ProcessConfig {
  readonly processes: number
}

export const processSettings = {
  processes: {
    variable: 'POSTHORN_PROCESSES',
    meaning:
      'The number of processes of this service: each is a full node on the same database, and they share the port. `auto` uses one per CPU, at most 8. POSTHORN_DATABASE_POOL_SIZE is divided among them. See docs/operating.md.',
    shownDefault: '1',
    defaultValue: 1,
    read: processCount,
  },
}

function processCount(value: string): number {
  if (value === 'auto') return Math.min(availableParallelism(), autoMax)
  try {
    return wholeNumber(1, processesMax)(value)
  } catch (mistake) {
    throw new Error(`${(mistake as Error).message}; \`auto\` uses one per CPU`)
  }
}

/** The default for several processes if the number of connections is not set. */
export function connectionsFor(processes: number, usual: number, isEmbedded: boolean): number {
  if (processes === 1) return usual
  const wanted = Math.max(usual, processes * connectionsEach)
  return isEmbedded ? Math.min(wanted, embeddedMost(processes)) : wanted
}

/** Each process listens on one more. */
const embeddedMost = (processes: number): number => embeddedConnectionsMax - embeddedConnectionsSpare - processes

/** This process's share, counted from 1; the first ones have one more if it cannot be divided evenly. */
export function connectionShare(total: number, processes: number, number: number): number {
  return Math.floor(total / processes) + (number <= total % processes ? 1 : 0)
}

/** What is wrong with settings that are valid individually. A single process behaves as before. */
export function processMistakes(config: Readonly<Record<string, unknown>>): string[] {
  const processes = config['processes'] as number
  const connections = config['databasePoolSize'] as number
  if (processes === 1) return []
  const least = processes * connectionsMin
  const most = config['databaseUrl'] === undefined ? embeddedMost(processes) : Number.POSITIVE_INFINITY
  const reason = `the embedded database allows ${embeddedConnectionsMax} connections, of which each process needs one to listen and ${embeddedConnectionsSpare} are reserved for commands`
  const given = `for ${processes} processes (POSTHORN_PROCESSES)`
  if (most < least) {
    return [`POSTHORN_PROCESSES must be at most ${embeddedProcessesMax}, not ${processes}: ${reason}`]
  }
  if (connections < least) {
    return [
      `POSTHORN_DATABASE_POOL_SIZE must be at least ${least} ${given}, ${connectionsMin} each, not ${connections}`,
    ]
  }
  if (connections > most) {
    return [`POSTHORN_DATABASE_POOL_SIZE must be at most ${most} ${given}, not ${connections}: ${reason}`]
  }
  return []
}

const embeddedProcessesMax = Math.floor((embeddedConnectionsMax - embeddedConnectionsSpare) / (connectionsMin + 1))

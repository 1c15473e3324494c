// Sends entries of audit logs to their streams: in their order, signed, each until it is taken, by one node at a time.
import type { Clock } from '../../db/clock.ts'
import type { Db } from '../../db/sql.ts'
import type { AuditEntry } from '../../domain/operate/audit.ts'
import { signedCall } from '../../providers/signing/call-signature.ts'
import { listAuditEntries } from '../../store/operate/audit-log.ts'
import type { LeasedStream } from '../../store/operate/audit-streams.ts'
import { advanceAuditStream, endAuditTurn, leaseAuditStream } from '../../store/operate/audit-streams.ts'
import { findSigningKeys } from '../../store/operate/signing-versions.ts'
import { OutboundError } from '../../world/outbound/outbound-error.ts'
import type { World } from '../../world/world.ts'

/** How often a node looks for entries to send. */
const lookEveryMs = 5_000
const callTimeoutMs = 10_000
/** Longer than a call may take, so that no other node starts meanwhile. */
const leaseMs = 60_000
/** Entries of one turn, read at once: each may be a quarter of a megabyte. */
const entriesPerTurn = 20
/** A slow receiver has fewer: others wait for it on this node. */
const turnMsMax = 10_000
/** After the first failure; twice as long after each that follows. */
const firstPauseMs = 5_000
const pauseMaxMs = 60 * 60_000

/** Sends what there is to send, streams taking turns; says how many entries were taken. */
export async function sendAudit(db: Db, world: World, clock: Clock, signal?: AbortSignal): Promise<number> {
  let total = 0
  while (signal?.aborted !== true) {
    const turn = { lease: world.newId(world.now()), leaseMs, clock }
    const stream = await db.transaction((tx) => leaseAuditStream(tx, world.sealer, turn))
    if (stream === undefined) return total
    total += await sendTo(db, world, clock, stream, signal)
  }
  return total
}

/** One turn: the entries that follow, up to so many and for so long. The next turn is that of the stream that waited longest. */
async function sendTo(db: Db, world: World, clock: Clock, stream: LeasedStream, signal?: AbortSignal): Promise<number> {
  const endsAtMs = world.now().getTime() + turnMsMax
  let total = 0
  let failure: string | undefined
  const isStopping = (): boolean => signal?.aborted === true
  try {
    const entries = await listAuditEntries(db, stream.environment, { afterSeq: stream.position, limit: entriesPerTurn })
    for (const entry of entries) {
      failure = await failureOf(db, world, stream, entry)
      if (failure !== undefined) break
      const now = world.now()
      const isOurs = await advanceAuditStream(db, stream, { position: entry.seq, now, leaseMs, clock })
      total += 1
      if (!isOurs || isStopping() || now.getTime() >= endsAtMs) return total
    }
  } finally {
    // Those of a try that was cut off by an error of our own wait as after any other.
    const error = failure ?? (total === 0 && !isStopping() ? 'The entries could not be sent' : undefined)
    const waitMs = pauseAfter(stream.failures + 1)
    await endAuditTurn(db, stream, error === undefined ? undefined : { error, waitMs, clock })
  }
  if (failure !== undefined) {
    const { environment, failures } = stream
    const fields = { environment: environment.name, stream: stream.id, failures: failures + 1, error: failure }
    world.log.warn(fields, 'An entry of the audit log was not taken by its stream; it is sent again')
  }
  return total
}

const pauseAfter = (failures: number): number => Math.min(pauseMaxMs, firstPauseMs * 2 ** Math.min(failures - 1, 20))

/** Undefined when the entry was taken. Nothing of the answer is kept: whoever gives the address might read what lies there. */
async function failureOf(
  db: Db,
  world: World,
  { environment, url }: LeasedStream,
  entry: AuditEntry,
): Promise<string | undefined> {
  if (url === null) return 'Its address was encrypted with a key that this node does not have'
  const keys = await findSigningKeys(db, world.sealer, environment)
  const data = { environmentId: environment.id, environmentName: environment.name, ...entry }
  const body = JSON.stringify({ type: 'audit.entry', timestamp: entry.at, data })
  const headers = { 'content-type': 'application/json' }
  // The same for every repeat, by which a receiver knows one. Numbers begin again after a restore, and the entries are others.
  const id = `audit-${environment.id}-${entry.seq}-${entry.hash.slice(0, 16)}`
  const now = world.now()
  const request = signedCall({ url, method: 'POST', headers, body }, id, keys?.auditKeys(now) ?? [], now)
  try {
    const { status } = await world.fetch(request, { reach: 'guarded', timeoutMs: callTimeoutMs })
    return status >= 200 && status < 300 ? undefined : `It answered ${status}`
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return error.message
  }
}

/** Every node looks; the one whose turn it is sends. */
export function startAuditSending(db: Db, world: World, clock: Clock): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      await world.sleep(lookEveryMs, stopping.signal)
      if (stopping.signal.aborted) return
      await sendAudit(db, world, clock, stopping.signal).catch((error: Error) => {
        world.log.warn({ error: error.message }, 'The audit log could not be sent; it is tried again')
      })
    }
  })()
  return {
    stop: async () => {
      stopping.abort()
      await loop
    },
  }
}

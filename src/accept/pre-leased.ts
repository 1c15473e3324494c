// The first jobs of events that this node accepted and leases itself, with what was read for them.
import type { TriggeredEvent } from '../domain/delivery/event.ts'
import type { Environment } from '../domain/environment.ts'
import { inStoredOrder } from '../domain/stored-order.ts'
import type { PreLeasedJob, Surroundings } from '../record/notify.ts'
import { preLeasedJob } from '../record/notify.ts'
import type { ForeseenPeople } from '../record/resolve-recipients.ts'
import type { NewEvent } from '../store/events/events.ts'
import type { NewJob } from '../store/jobs/insert.ts'

/**
 * The jobs that a node may have in flight then hold at most 24 MB of events; larger ones are read when they are needed.
 */
export const smallEventLetters = 8_000
/** What is decided at once does not wait for its turn: a group of callers has 6 MB of events in memory for as long as that takes. */
export const largeEventLetters = 64 * 1024

/** By id, with their sizes as JSON. */
export type SizedEvents = ReadonlyMap<string, { readonly event: TriggeredEvent; readonly letters: number }>

/** Once for all jobs of an acceptance: measuring them costs something. `lettersMax`: without those that are larger. */
export function sizedEvents(rows: readonly NewEvent[], lettersMax: number): SizedEvents {
  const events = new Map<string, { event: TriggeredEvent; letters: number }>()
  for (const row of rows) {
    const { payload, overrides, bytes = 0 } = row
    if (bytes > lettersMax) continue
    const letters = JSON.stringify(payload).length + JSON.stringify(overrides).length
    if (letters <= lettersMax) events.set(row.id, { event: triggeredEvent(row), letters })
  }
  return events
}

/** Jobs that wait: with their events, where those are small. */
export function preLeasedJobs(
  environment: Environment,
  jobs: readonly NewJob[],
  lease: string,
  events: SizedEvents,
  facts?: ForeseenPeople['facts'],
): PreLeasedJob[] {
  return jobs.map((job) => {
    const found = events.get(job.eventId)
    const event = found === undefined || found.letters > smallEventLetters ? undefined : found.event
    return preLeasedJob(environment, job, lease, event, foreseenFor(job, event, facts))
  })
}

/** Jobs to be decided at once: with larger events too, and with all that these name. */
export function jobsWithAll(
  environment: Environment,
  jobs: readonly NewJob[],
  lease: string,
  events: SizedEvents,
  { facts, surroundings }: { facts: ForeseenPeople['facts']; surroundings: Surroundings | undefined },
): PreLeasedJob[] {
  return jobs.map((job) => {
    const { event, letters = 0 } = events.get(job.eventId) ?? {}
    const foreseen = foreseenFor(job, event, facts)
    const isLarge = letters > smallEventLetters
    const whole =
      foreseen && (isLarge || surroundings !== undefined) ? { ...foreseen, surroundings, isLarge } : foreseen
    return preLeasedJob(environment, job, lease, event, whole)
  })
}

function foreseenFor(
  { subscriberId }: NewJob,
  event: TriggeredEvent | undefined,
  facts: ForeseenPeople['facts'] | undefined,
): PreLeasedJob['foreseen'] {
  const own = facts?.get(subscriberId)
  const actor = event?.actorId == null ? undefined : facts?.get(event.actorId)?.recipient
  return own === undefined || actor === undefined ? own : { ...own, actor }
}

/** As it is read once it is stored. */
export function triggeredEvent(row: NewEvent): TriggeredEvent {
  const { id, transactionId, payload, overrides, actorId, tenantId, contextKeys, severity, attachments } = row
  const { test = null, traceparent = null } = row
  return {
    id,
    transactionId,
    payload: inStoredOrder(payload),
    overrides: inStoredOrder(overrides),
    actorId,
    tenantId,
    contextKeys,
    severity,
    attachments,
    test,
    traceparent,
  }
}

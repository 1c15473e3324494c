// Ids that follow from what they belong to: a second insert of the same thing collides with the first instead of doubling it.
import { hash } from 'node:crypto'

/**
 * Layout of a derived UUIDv7: the event's millisecond (48 bits), the version, the event's last twelve bits, the
 * variant, then 62 bits of the thing's own hash. What belongs to one event is therefore adjacent in a primary key, and
 * two things of one event collide with a probability of 10⁻⁷ among a million. (docs/decisions/0015)
 */
function derivedId(eventId: string, tail: string): string {
  const family = familyOf(eventId)
  const variant = ((Number.parseInt(tail.slice(0, 1), 16) & 0x3) | 0x8).toString(16)
  return `${eventId.slice(0, 13)}-7${family}-${variant}${tail.slice(1, 4)}-${tail.slice(4, 16)}`
}

/** The end of an event's id is random: as good as a hash of it, and free. */
function familyOf(eventId: string): string {
  return eventId.slice(-3)
}

export function notificationIdOf(eventId: string, subscriberId: string): string {
  return derivedId(eventId, hash('sha1', `${eventId}/${subscriberId}`))
}

export function jobIdOf(eventId: string, notificationId: string, step: number): string {
  return derivedId(eventId, hash('sha1', `${notificationId}/${step}`))
}

/** The first 40 bits of the tail identify the job, so that the messages of a job are stored together too. */
export function messageIdOf(eventId: string, jobId: string, target: string): string {
  return derivedId(eventId, messagePrefix(jobId) + hash('sha1', `${jobId}/${target}`).slice(0, 6))
}

function messagePrefix(jobId: string): string {
  return hash('sha1', jobId).slice(0, 10)
}

export interface IdRange {
  readonly from: string
  readonly to: string
}

/** The range of everything of one event. Other events may share the range: compare the event's id as well. */
export function idsOfEvent(eventId: string): IdRange {
  const start = `${eventId.slice(0, 13)}-7${familyOf(eventId)}`
  return { from: `${start}-8000-000000000000`, to: `${start}-bfff-ffffffffffff` }
}

/** Where the messages of one job lie. */
export function idsOfMessages(eventId: string, jobId: string): IdRange {
  const prefix = messagePrefix(jobId)
  return {
    from: derivedId(eventId, `${prefix}000000`),
    to: derivedId(eventId, `${prefix}ffffff`),
  }
}

/** The versions of UUIDs that ours never have. */
const repeatVersions = '8123456'
const versionAt = 14

/**
 * The id used with a vendor after a message or a step had finally failed: a new one, so that a vendor that remembers
 * ids does not return the old failure again, and still one that identifies the message.
 */
export function repeatedIdOf(id: string, repeats = 0): string {
  if (repeats === 0) return id
  const version = repeatVersions[(repeats - 1) % repeatVersions.length]
  return `${id.slice(0, versionAt)}${version}${id.slice(versionAt + 1)}`
}

/** The id that `repeatedIdOf` was given. */
export const ownIdOf = (id: string): string => `${id.slice(0, versionAt)}7${id.slice(versionAt + 1)}`

/** The time in a UUIDv7. */
export function timestampOfId(id: string): Date {
  return new Date(timestampMsOfId(id))
}

/** The same as a number, for callers that would create a Date only to read it. */
export function timestampMsOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8), 16) * 0x10000 + Number.parseInt(id.slice(9, 13), 16)
}

/** The smallest id of a given time, for ranges of time. */
export function firstIdAt(at: Date): string {
  const time = at.getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}

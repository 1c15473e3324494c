// UUIDv7: ids that contain their creation time, in order within a millisecond (RFC 9562, method 1).
import { randomBytes } from 'node:crypto'

const counterBits = 26
const counterMax = 2 ** counterBits
const randomTailBytes = 6

/** Drawn in blocks: one call for each id took a twentieth of the time to accept an event. */
const randomBlockBytes = 4096

export function createRandomSource(): (bytes: number) => Buffer {
  let block = Buffer.alloc(0)
  let used = 0
  return (bytes) => {
    if (used + bytes > block.length) {
      block = randomBytes(randomBlockBytes)
      used = 0
    }
    used += bytes
    return block.subarray(used - bytes, used)
  }
}

/** A source of ids. The counter starts at random in each millisecond, so ids of several nodes do not collide. */
export function createIdSource(random: (bytes: number) => Buffer = createRandomSource()): (at: Date) => string {
  let lastMs = -1
  let counter = 0
  return (at) => {
    const ms = at.getTime()
    if (ms === lastMs) counter += 1
    else {
      lastMs = ms
      // The top bit stays free: 33 million ids fit into the millisecond before the counter could wrap.
      counter = random(4).readUInt32BE() % (counterMax / 2)
    }
    return formatId(ms, counter % counterMax, random(randomTailBytes))
  }
}

function formatId(ms: number, counter: number, tail: Buffer): string {
  const time = ms.toString(16).padStart(12, '0')
  const high = (counter >>> 14).toString(16).padStart(3, '0')
  const low = (0x8000 | (counter & 0x3fff)).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${high}-${low}-${tail.toString('hex')}`
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(text: string): boolean {
  return uuidPattern.test(text)
}

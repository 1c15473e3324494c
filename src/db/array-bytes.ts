// Arrays as PostgreSQL sends them itself: as text every quote in a JSON is escaped here and read letter by letter there.

/** The types that the hot statements give lists of, and by which number the server knows them. */
const numberOfType = { uuid: 2950, text: 25, json: 114, jsonb: 3802, bytea: 17 } as const
export type ListType = keyof typeof numberOfType

/** Dimensions, whether there are nulls, the type; then of the one dimension its size and its first index. */
const headBytes = 20
const lengthBytes = 4
const uuidBytes = 16
const uuidLength = 36
/** What the server wants before a jsonb: the version of how it is written. */
const jsonbVersion = 1

/**
 * The types of a statement's lists, by the position of the parameter: each list is followed by its type. A parameter
 * that is also used without one has none: which type the server infers depends on what it reads first.
 */
export function listTypesIn(text: string): ReadonlyMap<number, ListType> {
  const found = new Map<number, string | undefined>()
  for (const [, digits, type] of text.matchAll(/\$(\d+)(?:::(\w+)\[\])?/g)) {
    const place = Number(digits)
    found.set(place, found.has(place) && found.get(place) !== type ? undefined : type)
  }
  const lists = [...found].filter((one): one is [number, ListType] => Object.hasOwn(numberOfType, one[1] ?? ''))
  return new Map(lists)
}

/** Undefined if an element does not match its type: sent as text, the server reports what it is. */
export function arrayBytes(values: readonly unknown[], type: ListType): Buffer | undefined {
  if (values.length === 0) return undefined
  if (type === 'bytea') return byteArray(values)
  return type === 'uuid' ? uuidArray(values) : textArray(values, type)
}

/** As text each byte would be two letters, and these read again one by one. */
function byteArray(values: readonly unknown[]): Buffer | undefined {
  const parts: Buffer[] = [Buffer.allocUnsafe(headBytes)]
  for (const value of values) {
    if (value !== null && value !== undefined && !Buffer.isBuffer(value)) return undefined
    const length = Buffer.allocUnsafe(lengthBytes)
    length.writeInt32BE(value?.length ?? -1)
    parts.push(length)
    if (value) parts.push(value)
  }
  const bytes = Buffer.concat(parts)
  writeHead(bytes, 'bytea', values.length, values.includes(null) || values.includes(undefined))
  return bytes
}

function uuidArray(values: readonly unknown[]): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(headBytes + values.length * (lengthBytes + uuidBytes))
  let at = headBytes
  let hasNulls = false
  for (const value of values) {
    if (value === null || value === undefined) {
      hasNulls = true
      at = bytes.writeInt32BE(-1, at)
      continue
    }
    if (typeof value !== 'string' || value.length !== uuidLength) return undefined
    at = writeLength(bytes, uuidBytes, at)
    // Negative as soon as one of them is: asked once an id, as it is done for every row of every batch.
    let all = 0
    for (let place = 0, written = 0; written < uuidBytes; place += 2, written += 1) {
      if (place === 8 || place === 13 || place === 18 || place === 23) place += 1
      const byte = (digitAt(value, place) << 4) | digitAt(value, place + 1)
      all |= byte
      bytes[at + written] = byte
    }
    if (all < 0 || !hasDashes(value)) return undefined
    at += uuidBytes
  }
  writeHead(bytes, 'uuid', values.length, hasNulls)
  return bytes.subarray(0, at)
}

const hasDashes = (value: string): boolean =>
  value[8] === '-' && value[13] === '-' && value[18] === '-' && value[23] === '-'

/** The value of a hexadecimal digit; negative for anything else, and so is any byte that is made with it. */
const digitAt = (text: string, place: number): number => digits[text.charCodeAt(place)] as number

/** For every unit of a text there is. */
const digits: Int8Array = new Int8Array(65_536).fill(-1)
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  digits[digit.charCodeAt(0)] = value
  digits[digit.toUpperCase().charCodeAt(0)] = value
}

function textArray(values: readonly unknown[], type: ListType): Buffer | undefined {
  const before = type === 'jsonb' ? 1 : 0
  const lengths: number[] = []
  let size = headBytes
  let hasNulls = false
  for (const value of values) {
    if (value === null || value === undefined) {
      hasNulls = true
      lengths.push(-1)
      size += lengthBytes
      continue
    }
    if (typeof value !== 'string') return undefined
    const length = Buffer.byteLength(value)
    lengths.push(length)
    size += lengthBytes + before + length
  }
  const bytes = Buffer.allocUnsafe(size)
  let at = headBytes
  for (let place = 0; place < values.length; place += 1) {
    const length = lengths[place] ?? -1
    if (length === -1) {
      at = bytes.writeInt32BE(-1, at)
      continue
    }
    at = writeLength(bytes, before + length, at)
    if (before === 1) {
      bytes[at] = jsonbVersion
      at += 1
    }
    const text = values[place] as string
    // As many bytes as characters: only ASCII, for which the short way will do.
    at += bytes.write(text, at, length, length === text.length ? 'latin1' : 'utf8')
  }
  writeHead(bytes, type, values.length, hasNulls)
  return bytes
}

function writeHead(bytes: Buffer, type: ListType, count: number, hasNulls: boolean): void {
  bytes.writeInt32BE(1, 0)
  bytes.writeInt32BE(hasNulls ? 1 : 0, 4)
  bytes.writeInt32BE(numberOfType[type], 8)
  bytes.writeInt32BE(count, 12)
  bytes.writeInt32BE(1, 16)
}

/** Written out: it runs for every element, and the built-in method checks ranges first. */
function writeLength(bytes: Buffer, length: number, at: number): number {
  bytes[at] = length >>> 24
  bytes[at + 1] = length >>> 16
  bytes[at + 2] = length >>> 8
  bytes[at + 3] = length
  return at + lengthBytes
}

// How the text of a setting is read; each throws a sentence when the text is no good.

const keyLengthMin = 16
const keyLengthMax = 255
const encryptionKeyBytes = 32
const sslModes = ['disable', 'require', 'verify-ca', 'verify-full']

export const text = (value: string): string => value

export function wholeNumber(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < min || number > max) {
      throw new Error(`must be a whole number from ${min} to ${max}, not "${value}"`)
    }
    return number
  }
}

export function oneOf<const Values extends readonly string[]>(...values: Values): (value: string) => Values[number] {
  return (value) => {
    if (!values.includes(value)) throw new Error(`must be one of ${values.join(', ')}, not "${value}"`)
    return value
  }
}

/** A value, or `off`. A number of days is not switched off by 0: that could also mean that nothing is kept. */
export function orOff<Value>(read: (value: string) => Value): (value: string) => Value | 'off' {
  return (value) => {
    if (value === 'off') return value
    try {
      return read(value)
    } catch (mistake) {
      throw new Error(`${(mistake as Error).message}; \`off\` switches it off`)
    }
  }
}

export function list(value: string): readonly string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

export function apiKey(value: string): string {
  if (!/^[\x21-\x7e]+$/.test(value) || value.length < keyLengthMin || value.length > keyLengthMax) {
    throw new Error(`must be ${keyLengthMin} to ${keyLengthMax} visible ASCII characters without spaces`)
  }
  return value
}

/** One key, or two during a rotation, separated by white space: both open the environment, and commands show the first. */
export function apiKeys(value: string): readonly string[] {
  const keys = value.trim().split(/\s+/).map(apiKey)
  if (keys.length > 2)
    throw new Error('must hold one key, or two separated by white space while one replaces the other')
  if (new Set(keys).size < keys.length) throw new Error('must not hold the same key twice')
  return keys
}

export function encryptionKey(value: string): Buffer {
  if (/^[0-9a-f]{64}$/i.test(value)) return Buffer.from(value, 'hex')
  // The pattern first: Buffer.from skips what is not base64 and would make a key out of a typo.
  const key = /^[A-Za-z0-9+/]+={0,2}$/.test(value) ? Buffer.from(value, 'base64') : Buffer.alloc(0)
  if (key.length !== encryptionKeyBytes) {
    throw new Error(
      `must be ${encryptionKeyBytes} random bytes in base64 or hex; generate them with: openssl rand -base64 32`,
    )
  }
  return key
}

export function databaseUrl(value: string): string {
  if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value)) {
    throw new Error('must be a URL such as postgres://user:password@host:5432/database')
  }
  const { hostname, searchParams } = new URL(value)
  if (hostname === '' && !searchParams.get('host')) throw new Error('must include the host of the database')
  const mode = searchParams.get('sslmode')
  if (mode !== null && !sslModes.includes(mode)) {
    throw new Error(`must have an sslmode of ${sslModes.join(', ')}, not "${mode}"`)
  }
  return value
}

export function webAddress(value: string): string {
  if (!/^https?:\/\//.test(value) || !URL.canParse(value)) throw new Error(`must be an http(s) URL, not "${value}"`)
  return value.replace(/\/+$/, '')
}

export function webOrigins(value: string): readonly string[] {
  const origins = list(value)
  for (const origin of origins) {
    if (origin !== '*' && !isOrigin(origin)) {
      throw new Error(`must list origins such as https://app.example.com, not "${origin}"`)
    }
  }
  return origins
}

/** Web views of apps have schemes of their own, such as `capacitor://localhost`: no URL has that origin, but they send it. */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { origin, protocol } = new URL(text)
  if (origin !== 'null') return origin === text
  return protocol !== 'file:' && /^[a-z][a-z0-9+.-]*:\/\/[\w.-]+(:\d+)?$/.test(text)
}

export function files(value: string): readonly string[] {
  const names = list(value)
  if (names.length === 0) throw new Error('must name at least one file')
  return names
}

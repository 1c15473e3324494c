// Answers that no vendor documents: strange ones, and real ones with something changed.
import type { ContractAnswer } from './provider-contract.ts'
import type { Random } from './random.ts'
import { createRandom } from './random.ts'

export const strangeAnswers = {
  empty: '',
  html: '<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>',
  'invalid JSON': '{"id": ',
  'a bare string': '"ok?"',
  'a bare number': '12',
  null: 'null',
  'an empty list': '[]',
  'an empty object': '{}',
  'a list of nulls': '[null, null]',
  huge: `{"x":"${'y'.repeat(64 * 1024)}`,
  'control characters': '\u0000\u0001\uFFFD',
}

/** Real answers with members dropped, retyped or renamed, texts cut, statuses changed; the same ones in every run. */
export function* fuzzedAnswers(samples: readonly ContractAnswer[], count: number): Generator<ContractAnswer> {
  const random = createRandom(20_261_115)
  for (let made = 0; made < count; made += 1) {
    const { status, headers = {}, body = '' } = random.oneOf(samples)
    const changed = typeof body === 'string' ? changedText(random, body) : changedValue(random, body, 0)
    yield {
      status: random.chance(0.3) ? random.oneOf(statuses) : status,
      headers: random.chance(0.2) ? {} : headers,
      body: typeof changed === 'string' ? changed : (JSON.stringify(changed) ?? ''),
    }
  }
}

/** A few of them, for answers to many messages. */
export function bytesAnswers(sample: ContractAnswer): ContractAnswer[] {
  return [...fuzzedAnswers([sample], 200)]
}

const statuses = [
  200, 201, 202, 204, 207, 301, 400, 401, 402, 403, 404, 408, 409, 410, 413, 422, 425, 429, 500, 502, 503, 504, 529,
]
const newSubscribers = [
  null,
  undefined,
  true,
  false,
  0,
  -1,
  1e21,
  '',
  'x',
  [],
  {},
  [null],
  { '': '' },
  '\u0000',
  '__proto__',
  Number.MAX_SAFE_INTEGER,
]

function changedValue(random: Random, value: unknown, depth: number): unknown {
  if (depth > 6 || random.chance(0.1)) return random.oneOf(newSubscribers)
  if (Array.isArray(value)) {
    const kept = value
      .filter(() => !random.chance(0.2))
      .map((one) => (random.chance(0.5) ? changedValue(random, one, depth + 1) : one))
    return random.chance(0.1) ? [...kept, ...kept] : kept
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(() => !random.chance(0.15))
    return Object.fromEntries(
      entries.map(([name, one]) => [
        random.chance(0.05) ? `${name}x` : name,
        random.chance(0.5) ? changedValue(random, one, depth + 1) : one,
      ]),
    )
  }
  return typeof value === 'string' && random.chance(0.5)
    ? changedText(random, value)
    : random.chance(0.5)
      ? value
      : random.oneOf(newSubscribers)
}

function changedText(random: Random, text: string): string {
  const at = random.integer(text.length + 1)
  return random.oneOf([
    text.slice(0, at),
    `${text}${text}`,
    `${text.slice(0, at)}\u0000${text.slice(at)}`,
    text.toUpperCase(),
    text,
  ])
}

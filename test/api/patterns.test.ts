// Every pattern of the API's schemas takes a time that grows with the text, not with its square.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routes } from '../../src/http/registry.ts'
import { bulkSubscriber } from '../../src/http/routes/people/subscriber-schemas.ts'
import { cpuMsOf } from '../support/turn-cpu.ts'

function patternsOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, part]) =>
    name === 'pattern' && typeof part === 'string' ? [part] : patternsOf(part),
  )
}

/** The best of three, and never less than the clock can report. */
function shortestMs(pattern: RegExp, text: string): number {
  const times = [1, 2, 3].map(() => cpuMsOf(() => pattern.test(text)))
  return Math.max(Math.min(...times), 0.5)
}

const patterns = new Set([...routes, bulkSubscriber].flatMap(patternsOf))

/** Texts that almost match: long runs that end in something no pattern allows. */
const endings = ['\u0001', ' ', '@', 'a@a.', '!']

test('ten times the text takes about ten times as long', () => {
  assert.ok(patterns.size > 0)
  for (const source of patterns) {
    const pattern = new RegExp(source, 'u')
    for (const unit of ['a', ' ', 'a@', 'a.', '-a']) {
      for (const ending of endings) {
        const ratio =
          shortestMs(pattern, unit.repeat(50_000) + ending) / shortestMs(pattern, unit.repeat(5_000) + ending)
        assert.ok(ratio < 40, `${source} on ${unit}…${ending}: ${ratio.toFixed(0)} times`)
      }
    }
  }
})

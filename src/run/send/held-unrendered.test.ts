// Jobs whose message could not leave now come back before anything is rendered.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Limits } from '../../deliver/limits.ts'
import { createLimits } from '../../deliver/limits.ts'
import { over, until } from '../../domain/delivery/due.ts'
import type { JobFacts } from '../decide/job-facts.ts'
import type { HoldingParts } from './held-unrendered.ts'
import { heldUnrendered } from './held-unrendered.ts'

const now = new Date('2024-02-29T10:00:00.000Z')
const inMs = (ms: number): Date => new Date(now.getTime() + ms)
const turnAt = inMs(7_000)

interface Scene {
  readonly limits?: Limits
  /** Integrations whose queue is full. */
  readonly full?: readonly string[]
  readonly type?: string
  readonly status?: string
  readonly isTest?: boolean
  readonly capture?: boolean
  readonly heldSince?: Date
  readonly at?: Date
  readonly probed?: Set<string>
}

function look({ limits = createLimits(), full = [], type = 'email', ...more }: Scene) {
  const integrationOf = (_id: string, primary: boolean) => ({
    _id,
    identifier: _id,
    providerId: type === 'sms' ? 'twilio' : 'sendgrid',
    channel: type,
    active: true,
    primary,
    conditions: [],
    configurations: { capture: more.capture === true },
  })
  const facts = {
    job: {
      id: 'j',
      status: more.status ?? 'queued',
      lane: 0,
      state: more.heldSince ? { heldSince: more.heldSince.toISOString() } : null,
    },
    step: { template: { type } },
    version: { definition: { steps: [] } },
    event: { overrides: {}, ...(more.isTest === true ? { test: {} } : {}) },
    scope: {},
    integrations: [integrationOf('first', true), integrationOf('second', false)],
  } as unknown as JobFacts
  const parts = {
    limits,
    world: { random: () => 0 },
    operatorMail: undefined,
    sends: { capacity: (id: string) => (full.includes(id) ? 0 : 1), turnAt: () => turnAt },
  } as unknown as HoldingParts
  return heldUnrendered(parts, facts, more.at ?? now, more.probed ?? new Set())
}

function paused(ms: number, ...ids: string[]): Limits {
  const limits = createLimits()
  for (const id of ids) limits.pauseUntil(id, inMs(ms))
  return limits
}

function down(...ids: string[]): Limits {
  const limits = createLimits()
  for (const id of ids) for (let count = 0; count < 5; count += 1) limits.note(id, true, now)
  return limits
}

test('where nothing rests and there is room the step continues', () => {
  assert.equal(look({}), undefined)
})

test('a job whose provider asked for a pause comes back when that ends', () => {
  const settlement = look({ limits: paused(20_000, 'first') })
  assert.deepEqual([settlement?.status, settlement?.due, settlement?.details], ['queued', until(inMs(20_000)), []])
})

test('where another integration takes over, the step continues', () => {
  assert.equal(look({ limits: paused(120_000, 'first') }), undefined)
  assert.equal(look({ limits: down('first') }), undefined)
})

test('where all providers are down the job is held, and says so', () => {
  const settlement = look({ limits: down('first', 'second') })
  assert.deepEqual(settlement?.due, until(inMs(2_000)))
  assert.equal(settlement?.state?.heldSince, now.toISOString())
  assert.equal(settlement?.details.length, 1)
})

test('a job that finds the queue full comes back at its turn; one whose integration has room continues', () => {
  assert.deepEqual(look({ full: ['first'] })?.due, until(turnAt))
  assert.equal(look({ full: ['second'] }), undefined)
})

test('sms are looked at early as well; push and chat go by the subscriber’s entries, and are not', () => {
  assert.deepEqual(look({ full: ['first'], type: 'sms' })?.due, until(turnAt))
  assert.equal(look({ full: ['first'], type: 'push' }), undefined)
  assert.equal(look({ full: ['first'], type: 'chat' }), undefined)
})

test('what captures asks no provider; a wait that is over and a test are decided in any case', () => {
  const limits = down('first', 'second')
  assert.equal(look({ limits, capture: true }), undefined)
  assert.equal(look({ limits, status: 'delayed' }), undefined)
  assert.equal(look({ limits, isTest: true }), undefined)
})

test('when the providers may be back one job finds out, and the others of its batch are held unrendered', () => {
  const limits = down('first', 'second')
  const at = inMs(2_000)
  const probed = new Set<string>()
  assert.equal(look({ limits, at, probed }), undefined)
  assert.deepEqual([...probed], ['first'])
  const settlement = look({ limits, at, probed })
  assert.deepEqual([settlement?.status, settlement?.due], ['queued', until(new Date(at.getTime() + 5_000))])
  limits.note('first', false, at)
  assert.equal(look({ limits, at, probed }), undefined, 'it is back')
})

test('a job is held for three days, and has failed then', () => {
  const limits = down('first', 'second')
  const threeDaysMs = 3 * 86_400_000
  assert.equal(look({ limits, heldSince: inMs(1 - threeDaysMs) })?.status, 'queued')
  const settlement = look({ limits, heldSince: inMs(-threeDaysMs) })
  assert.deepEqual([settlement?.status, settlement?.due], ['failed', over])
  assert.equal(settlement?.details.at(-1)?.code, 'providerError')
  assert.equal(look({ heldSince: inMs(-threeDaysMs) }), undefined, 'it is sent, should the provider be back')
})

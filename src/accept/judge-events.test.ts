// Judging: every version a call needs is there, however few are kept between calls, and none is changed by an event.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sql, Statement } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { Problem } from '../domain/problem.ts'
import type { PayloadSchema } from '../render/payload/payload-schema.ts'
import { compilePayloadSchema } from '../render/payload/payload-schema.ts'
import type { GivenEvent } from './judge-events.ts'
import { createCheckedVersions, readForJudging } from './judge-events.ts'

const environment = { id: 'environment', organizationId: 'organization' } as Environment

/** Reads, and judges at once. */
const judgeEvents = async (...parts: Parameters<typeof readForJudging>) => (await readForJudging(...parts))()

/** Every workflow exists, with one active step and whatever else is given; reports which versions were requested. */
function createLibrary(more: { variables?: object[]; payloadSchema?: object } = {}): { db: Sql; asked: string[][] } {
  const asked: string[][] = []
  const { variables = [], ...schema } = more
  const rows = async (statement: Statement): Promise<object[]> => {
    const names = statement.values.find(Array.isArray) as string[]
    if (statement.name === 'workflows-by-identifier') {
      return names.map((identifier) => ({
        id: identifier,
        identifier,
        active: true,
        versionId: `version of ${identifier}`,
      }))
    }
    // No transaction id was used before.
    if (statement.text.includes('transaction_id')) return []
    assert.equal(statement.name, 'workflow-versions-find')
    asked.push(names)
    const steps = [{ active: true, template: { type: 'in_app', variables }, variants: [] }]
    return names.map((id) => ({
      id,
      workflowId: id,
      identifier: id,
      definition: { severity: 'none', steps, ...schema },
    }))
  }
  return { db: { rows } as unknown as Sql, asked }
}

const eventOf = (name: string): GivenEvent => ({
  request: {
    name,
    payload: {},
    overrides: {},
    recipients: [{ subscriberId: 'person', fields: {}, channels: [] }],
    topics: [],
    isBroadcast: false,
    attachments: [],
    context: [],
  },
  warnings: [],
})

/** The versions the events will run with, or the errors they get. */
async function versionsOf(
  db: Sql,
  known: ReturnType<typeof createCheckedVersions>,
  names: string[],
): Promise<unknown[]> {
  const judged = await judgeEvents(db, environment, known, names.map(eventOf))
  return judged.map((one) => ('runnable' in one ? one.runnable.version.id : one.result))
}

test('a call that needs kept versions and new ones beyond the bound gets all of them', async () => {
  const { db } = createLibrary()
  const known = createCheckedVersions(2)
  await versionsOf(db, known, ['a', 'b'])
  assert.deepEqual(await versionsOf(db, known, ['a', 'c', 'b']), ['version of a', 'version of c', 'version of b'])
  assert.deepEqual(
    await versionsOf(db, known, ['a', 'b', 'c', 'd']),
    ['a', 'b', 'c', 'd'].map((name) => `version of ${name}`),
  )
})

test('what is kept is not asked for again; beyond the bound the oldest goes, and only it', async () => {
  const { db, asked } = createLibrary()
  const known = createCheckedVersions(2)
  for (const names of [['a'], ['b'], ['a', 'b'], ['c'], ['b', 'c'], ['a']]) await versionsOf(db, known, names)
  assert.deepEqual(asked, [['version of a'], ['version of b'], ['version of c'], ['version of a']])
  assert.deepEqual([...known.cached.keys()], ['version of c', 'version of a'])
})

test('the defaults of a schema are not written into the defaults of a template', async () => {
  const { db } = createLibrary({
    variables: [{ name: 'order', defaultValue: {} }],
    payloadSchema: {
      type: 'object',
      properties: { order: { type: 'object', properties: { note: { type: 'string', default: 'none' } } } },
    },
  })
  const [judged] = await judgeEvents(db, environment, createCheckedVersions(), [eventOf('a')])
  assert.ok(judged !== undefined && 'runnable' in judged)
  const { payload, version } = judged.runnable
  assert.deepEqual(payload, { order: { note: 'none' } })
  assert.deepEqual(version.definition.steps[0]?.template.variables, [{ name: 'order', defaultValue: {} }])
})

test('a payload that its schema takes too long for is refused alone, and others have their turn in between', async () => {
  const { db } = createLibrary({ payloadSchema: { properties: { a: { pattern: '^(?=a)(a+)+$' } } } })
  const withPayload = (a: string): GivenEvent => {
    const event = eventOf('w') as Extract<GivenEvent, { request: unknown }>
    return { ...event, request: { ...event.request, payload: { a } } }
  }
  const slow = withPayload(`${'a'.repeat(60)}!`)
  let turns = 0
  const count = setInterval(() => {
    turns += 1
  }, 0)
  const judged = await judgeEvents(db, environment, createCheckedVersions(), [slow, withPayload('aaa'), slow, slow])
  clearInterval(count)
  assert.deepEqual(
    judged.map((one) => ('runnable' in one ? 'runs' : one.result.status)),
    ['error', 'runs', 'error', 'error'],
  )
  assert.ok(turns >= 2, `${turns} turns`)
})

/** Knows versions whose schema the machine is too busy for, a given number of times. */
function busyVersions(busy: number): { known: ReturnType<typeof createCheckedVersions>; checked: () => number } {
  let checked = 0
  const check = (payload: Record<string, unknown>): string[] => {
    if (payload['costly'] !== true) return []
    checked += 1
    if (checked <= busy) throw new Problem(503, 'The service is too busy')
    return []
  }
  const compile = () => ({ ok: true, check, slowPatterns: [], isQuick: () => false }) as const
  return { known: { ...createCheckedVersions(), compile }, checked: () => checked }
}

function costlyEvent(transactionId?: string): GivenEvent {
  const event = eventOf('w') as Extract<GivenEvent, { request: unknown }>
  const given = transactionId === undefined ? {} : { transactionId }
  return { ...event, request: { ...event.request, ...given, payload: { costly: true } } }
}

test('a payload that a busy machine could not judge is judged in a later turn', async () => {
  const { db } = createLibrary({ payloadSchema: { type: 'object' } })
  const { known } = busyVersions(3)
  const [judged] = await judgeEvents(db, environment, known, [costlyEvent()])
  assert.ok(judged !== undefined && 'runnable' in judged)
})

test('beyond a few turns it is put off alone, and the turns are for all events together', async () => {
  const { db } = createLibrary({ payloadSchema: { type: 'object' } })
  const { known, checked } = busyVersions(1_000)
  const events = [eventOf('w'), costlyEvent('mine'), eventOf('w'), costlyEvent()]
  // The first has all three turns, the second is tried once.
  const judged = await judgeEvents(db, environment, known, events)
  assert.equal(checked(), 5)
  assert.deepEqual(
    judged.map((one) => ('runnable' in one ? 'runs' : [one.result, one.problem?.status])),
    [
      'runs',
      [{ acknowledged: true, status: 'error', transactionId: 'mine', error: ['The service is too busy'] }, 503],
      'runs',
      [{ acknowledged: true, status: 'error', error: ['The service is too busy'] }, 503],
    ],
  )
})

test('an error that is no such delay is thrown', async () => {
  const { db } = createLibrary({ payloadSchema: { type: 'object' } })
  const check = (): string[] => {
    throw new Error('a fault')
  }
  const compile = () => ({ ok: true, check, slowPatterns: [], isQuick: () => false }) as const
  await assert.rejects(judgeEvents(db, environment, { ...createCheckedVersions(), compile }, [eventOf('w')]), /a fault/)
})

test('schemas are compiled, and payloads checked, when nothing is read any more', async () => {
  const { db } = createLibrary({ payloadSchema: { type: 'object' } })
  const done: string[] = []
  const check = (): string[] => {
    done.push('checked')
    return []
  }
  const compile = () => {
    done.push('compiled')
    return { ok: true, check, slowPatterns: [], isQuick: () => false } as const
  }
  const judge = await readForJudging(db, environment, { ...createCheckedVersions(), compile }, [eventOf('w')])
  assert.deepEqual(done, [])
  const [judged] = await judge()
  assert.ok(judged !== undefined && 'runnable' in judged)
  assert.deepEqual(done, ['compiled', 'checked'])
})

test('a payload whose schema cannot be used is refused, not let through', async () => {
  const { db } = createLibrary({ payloadSchema: { type: 'nothing that is a type' } })
  const [judged] = await judgeEvents(db, environment, createCheckedVersions(), [eventOf('w')])
  assert.ok(judged !== undefined && 'result' in judged)
  assert.equal(judged.result.status, 'error')
})

test('a schema that took too long to be compiled is tried again after a while, and other mistakes are not', async () => {
  const { db } = createLibrary({ payloadSchema: { type: 'object' } })
  const tooLong = { ok: false, path: '', message: 'takes too long', isOutOfTime: true } as const
  const answers: PayloadSchema[] = [tooLong, compilePayloadSchema({ type: 'object' })]
  let [compiled, nowMs] = [0, 0]
  const compile = () => {
    compiled += 1
    return answers.shift() ?? assert.fail('compiled once more')
  }
  const known = createCheckedVersions(2, { compile, nowMs: () => nowMs })
  const runs = async () => {
    const [judged] = await judgeEvents(db, environment, known, [eventOf('w')])
    return judged !== undefined && 'runnable' in judged
  }
  assert.deepEqual([await runs(), await runs(), compiled], [false, false, 1])
  nowMs = 60_000
  assert.deepEqual([await runs(), await runs(), compiled], [true, true, 2])
})

test('while others keep a schema from being compiled its payloads are put off, not refused, and it is tried again soon', async () => {
  const { db } = createLibrary({ payloadSchema: { type: 'object' } })
  const starved = { ok: false, path: '', message: 'takes too long', isOutOfTime: true, isStarved: true } as const
  const answers: PayloadSchema[] = [starved, compilePayloadSchema({ type: 'object' })]
  let nowMs = 0
  const compile = () => answers.shift() ?? assert.fail('compiled once more')
  const known = createCheckedVersions(2, { compile, nowMs: () => nowMs })
  const outcome = async () => {
    const [judged] = await judgeEvents(db, environment, known, [eventOf('w')])
    return judged !== undefined && 'result' in judged ? judged.problem?.status : 'runs'
  }
  assert.deepEqual([await outcome(), await outcome()], [503, 503])
  nowMs = 10_000
  assert.equal(await outcome(), 'runs')
})

// Group commit, with a commit that is only a script.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseUnavailable } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { Problem } from '../domain/problem.ts'
import type { Group } from './group.ts'
import { createGroup } from './group.ts'

const environment: Environment = { id: 'development', organizationId: 'organization', name: 'Development' }
const production: Environment = { ...environment, id: 'production', name: 'Production' }

interface Item {
  readonly key: string
  readonly value: string
}

type Judge = (items: readonly Item[]) => readonly (string | Problem | undefined)[]

/** Writes down every group it is asked to commit, then answers as `judge` says. */
function recording(judge: Judge, sizeMax = 100): { group: Group<Item, string>; commits: string[][] } {
  const commits: string[][] = []
  const group = createGroup<Item, string>({
    sizeMax,
    keyOf: (item) => item.key,
    commit: async (_environment, items) => {
      commits.push(items.map((item) => item.value))
      await new Promise(setImmediate)
      return judge(items) as readonly (string | Problem)[]
    },
  })
  return { group, commits }
}

const upper: Judge = (items) => items.map((item) => item.value.toUpperCase())
const item = (value: string, key = value): Item => ({ key, value })

function refusing(culprit: string, error: Error): Judge {
  return (items) => {
    if (items.some(({ value }) => value === culprit)) throw error
    return upper(items)
  }
}

test('calls that arrive together share a commit, in the order of their arrival, each with its own result', async () => {
  const { group, commits } = recording(upper)
  const results = await Promise.all(['a', 'b', 'c'].map((value) => group.add(environment, item(value))))
  assert.deepEqual(results, ['A', 'B', 'C'])
  assert.deepEqual(commits, [['a', 'b', 'c']])
})

test('items of different sizes fill a commit together; one that does not fit ends it, and one that is too large goes alone', async () => {
  const commits: string[][] = []
  const group = createGroup<Item, string>({
    sizeMax: 5,
    sizeOf: ({ value }) => value.length,
    keyOf: ({ key }) => key,
    commit: async (_environment, items) => {
      commits.push(items.map(({ value }) => value))
      return items.map(({ value }) => value)
    },
  })
  const values = ['aa', 'bbb', 'c', 'ddddddd', 'e', 'fffff', 'g']
  assert.deepEqual(await Promise.all(values.map((value) => group.add(environment, item(value)))), values)
  assert.deepEqual(commits, [['aa', 'bbb'], ['c'], ['ddddddd'], ['e'], ['fffff'], ['g']])
})

test('what arrives during a commit is the next group, without waiting for a timer', async () => {
  const { group, commits } = recording(upper)
  const first = group.add(environment, item('a'))
  await new Promise(setImmediate)
  assert.deepEqual(commits, [['a']])
  const later = ['b', 'c'].map((value) => group.add(environment, item(value)))
  assert.deepEqual(await Promise.all([first, ...later]), ['A', 'B', 'C'])
  assert.deepEqual(commits, [['a'], ['b', 'c']])
})

test('equal keys never share a group, and keep their order', async () => {
  const { group, commits } = recording(upper)
  const items = [item('a1', 'a'), item('b1', 'b'), item('a2', 'a'), item('a3', 'a'), item('b2', 'b')]
  await Promise.all(items.map((each) => group.add(environment, each)))
  assert.deepEqual(commits, [['a1', 'b1'], ['a2', 'b2'], ['a3']])
})

test('a later call never overtakes an earlier one of its key that found the group full', async () => {
  const { group, commits } = recording(upper, 1)
  await Promise.all([item('a1', 'a'), item('b1', 'b'), item('b2', 'b')].map((each) => group.add(environment, each)))
  assert.deepEqual(commits, [['a1'], ['b1'], ['b2']])
})

test('a group is never larger than its limit', async () => {
  const { group, commits } = recording(upper, 3)
  const values = Array.from({ length: 8 }, (_, index) => `v${index}`)
  const results = await Promise.all(values.map((value) => group.add(environment, item(value))))
  assert.deepEqual(
    results,
    values.map((value) => value.toUpperCase()),
  )
  assert.deepEqual(
    commits.map((commit) => commit.length),
    [3, 3, 2],
  )
})

test('environments never share a group', async () => {
  const { group, commits } = recording(upper)
  await Promise.all([group.add(environment, item('a')), group.add(production, item('b'))])
  assert.deepEqual(commits, [['a'], ['b']])
})

test('one poisoned item fails alone, wherever it stands, and the others of its group succeed', async () => {
  const values = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  for (const culprit of values) {
    const { group } = recording(refusing(culprit, new Error('poison')))
    const results = await Promise.allSettled(values.map((value) => group.add(environment, item(value))))
    for (const [index, result] of results.entries()) {
      const value = values[index] ?? ''
      if (value === culprit) {
        assert.equal(result.status, 'rejected')
        assert.equal(result.reason.message, 'poison')
      } else assert.deepEqual(result, { status: 'fulfilled', value: value.toUpperCase() })
    }
  }
})

test('a group that is poisoned throughout reports every caller, and the next group is carried out', async () => {
  const { group } = recording((items) => {
    if (items.some(({ value }) => value !== 'good')) throw new Error('poison')
    return upper(items)
  })
  const results = await Promise.allSettled(['a', 'b', 'c'].map((value) => group.add(environment, item(value))))
  assert.deepEqual(
    results.map((result) => result.status),
    ['rejected', 'rejected', 'rejected'],
  )
  assert.equal(await group.add(environment, item('good')), 'GOOD')
})

test('a database that is away rejects all of a group at once: nothing is tried in halves', async () => {
  const { group, commits } = recording(refusing('b', new DatabaseUnavailable(new Error('gone'))))
  const results = await Promise.allSettled(['a', 'b', 'c', 'd'].map((value) => group.add(environment, item(value))))
  for (const result of results) {
    assert.equal(result.status, 'rejected')
    assert.ok(result.reason instanceof DatabaseUnavailable)
  }
  assert.deepEqual(commits, [['a', 'b', 'c', 'd']])
})

test('a Problem in the result belongs to its item alone, and splits nothing', async () => {
  const problem = new Problem(409, 'taken')
  const { group, commits } = recording((items) =>
    items.map(({ value }) => (value === 'b' ? problem : value.toUpperCase())),
  )
  const results = await Promise.allSettled(['a', 'b', 'c'].map((value) => group.add(environment, item(value))))
  assert.deepEqual(results, [
    { status: 'fulfilled', value: 'A' },
    { status: 'rejected', reason: problem },
    { status: 'fulfilled', value: 'C' },
  ])
  assert.equal(commits.length, 1)
})

test('a commit that forgets an item rejects that item instead of leaving its caller waiting', async () => {
  const { group } = recording(() => ['A', undefined])
  const results = await Promise.allSettled(['a', 'b'].map((value) => group.add(environment, item(value))))
  assert.deepEqual(
    results.map((result) => result.status),
    ['fulfilled', 'rejected'],
  )
})

test('a key that cannot be computed rejects its caller and holds up no one', async () => {
  const group = createGroup<string, string>({
    sizeMax: 10,
    keyOf: (value) => {
      if (value === 'bad') throw new Error('no key')
      return value
    },
    commit: async (_environment, values) => values,
  })
  const results = await Promise.allSettled(['a', 'bad', 'b'].map((value) => group.add(environment, value)))
  assert.deepEqual(
    results.map((result) => result.status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})

test('beyond ten thousand callers in the queue the next is asked to come back', async () => {
  const { group } = recording(upper, 10_000)
  const first = group.add(environment, item('first'))
  const waiting = Array.from({ length: 9_999 }, (_, index) => group.add(environment, item(`w${index}`)))
  await assert.rejects(
    group.add(environment, item('late')),
    (error) => error instanceof Problem && error.status === 503,
  )
  assert.equal(await first, 'FIRST')
  assert.equal((await Promise.all(waiting)).length, 9_999)
  assert.equal(await group.add(environment, item('later')), 'LATER')
})

test('a row that is locked costs its own caller only: each of the group is tried alone', async () => {
  const busy = new DatabaseUnavailable(Object.assign(new Error('lock timeout'), { code: '55P03' }))
  const { group, commits } = recording(refusing('culprit', busy))
  const results = await Promise.allSettled(
    ['a', 'culprit', 'b', 'c'].map((value) => group.add(environment, item(value))),
  )
  assert.deepEqual(
    results.map((result) => result.status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
  assert.equal(commits.length, 5)
})

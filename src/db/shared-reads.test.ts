// Short reads that share a connection: who joins whom, and what happens when one of them fails.
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import type pg from 'pg'
import { createSharedReads } from './shared-reads.ts'

class FakeClient extends EventEmitter {
  readonly released: boolean[] = []
  release(isBroken: boolean): void {
    this.released.push(isBroken)
  }
}

/** A pool of connections that answer when they are made to, and a clock that is set manually. */
function setUp({ fails = false } = {}) {
  const clients: FakeClient[] = []
  const clock = { now: 0 }
  const connect = async () => {
    if (fails) throw new Error('no connection')
    const client = new FakeClient()
    clients.push(client)
    return client as unknown as pg.PoolClient
  }
  const shared = createSharedReads({ connect } as Pick<pg.Pool, 'connect'>, () => clock.now)
  const asked: { client: FakeClient; resolve: (rows: number) => void; reject: (error: Error) => void }[] = []
  const ask = () =>
    shared(
      (client) =>
        new Promise((resolve, reject) => {
          const answer = (rowCount: number) => resolve({ rowCount } as pg.QueryResult)
          asked.push({ client: client as unknown as FakeClient, resolve: answer, reject })
        }),
    ).then(({ rowCount }) => rowCount)
  return { clients, clock, asked, ask }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('reads at the same time share a connection, which is released after the last of them', async () => {
  const { clients, asked, ask } = setUp()
  const answers = Promise.all([ask(), ask(), ask()])
  await turn()
  assert.deepEqual([clients.length, asked.length], [1, 3])
  asked[0]?.resolve(1)
  asked[1]?.resolve(2)
  await turn()
  assert.deepEqual(clients[0]?.released, [])
  asked[2]?.resolve(3)
  assert.deepEqual(await answers, [1, 2, 3])
  assert.deepEqual(clients[0]?.released, [false])
  assert.equal(clients[0]?.listenerCount('error'), 0)
  const later = ask()
  await turn()
  asked[3]?.resolve(4)
  assert.equal(await later, 4)
  assert.equal(clients.length, 2)
})

test('more than eight at once have a second connection', async () => {
  const { clients, asked, ask } = setUp()
  const answers = Promise.all(Array.from({ length: 11 }, ask))
  await turn()
  assert.equal(clients.length, 2)
  assert.deepEqual(
    clients.map((client) => asked.filter((one) => one.client === client).length),
    [8, 3],
  )
  for (const [index, one] of asked.entries()) one.resolve(index)
  assert.equal((await answers).length, 11)
  assert.deepEqual(
    clients.map((client) => client.released),
    [[false], [false]],
  )
})

test('no one waits behind a read that turned out to be long, but each answer shows that it goes on', async () => {
  const { clients, clock, asked, ask } = setUp()
  const first = [ask(), ask()]
  await turn()
  clock.now = 9
  asked[0]?.resolve(1)
  await first[0]
  clock.now = 18
  const joined = ask()
  await turn()
  assert.equal(clients.length, 1)
  clock.now = 20
  const apart = ask()
  await turn()
  assert.equal(clients.length, 2)
  for (const one of asked) one.resolve(0)
  await Promise.all([...first, joined, apart])
})

test('an error is that of its own read; after it no one joins, and the connection is not used again', async () => {
  const { clients, asked, ask } = setUp()
  const [refused, kept] = [ask(), ask()]
  await turn()
  asked[0]?.reject(new Error('no such column'))
  await assert.rejects(refused, /no such column/)
  const next = ask()
  await turn()
  assert.equal(clients.length, 2)
  asked[1]?.resolve(1)
  asked[2]?.resolve(2)
  assert.deepEqual(await Promise.all([kept, next]), [1, 2])
  assert.deepEqual(
    clients.map((client) => client.released),
    [[true], [false]],
  )
})

test('a connection that is lost in between is not used again', async () => {
  const { clients, asked, ask } = setUp()
  const answer = ask()
  await turn()
  clients[0]?.emit('error', new Error('lost'))
  asked[0]?.resolve(1)
  await answer
  assert.deepEqual(clients[0]?.released, [true])
})

test('without a connection each of them fails, and the next one tries again', async () => {
  const { ask } = setUp({ fails: true })
  const results = await Promise.allSettled([ask(), ask()])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  await assert.rejects(ask(), /no connection/)
})

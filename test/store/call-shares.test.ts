// Nodes share the calls that an account takes at once: on the real database, with the pauses in the test's hands.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { sql } from '../../src/db/sql.ts'
import type { Integration } from '../../src/domain/delivery/integration.ts'
import type { Environment } from '../../src/domain/environment.ts'
import type { CallShares } from '../../src/run/send/call-shares.ts'
import { createCallShares } from '../../src/run/send/call-shares.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/service.ts'

let database: TestDatabase
let environment: Environment
before(async () => {
  database = await createTestDatabase()
  const id = '01890000-0000-7000-8000-0000000000e1'
  const organization = '01890000-0000-7000-8000-0000000000f1'
  await database.db.run(sql`insert into organizations (id, name, created_at) values (${organization}, 'o', now())`)
  await database.db.run(sql`
    insert into environments (id, organization_id, name, identifier, signing_secret, created_at)
    values (${id}, ${organization}, 'e', 'e', '', now())`)
  environment = { id } as unknown as Environment
})
after(() => database.drop())
beforeEach(async () => {
  await database.db.run(sql`truncate call_shares`)
})

const integration = { _id: '01890000-0000-7000-8000-000000000001' } as unknown as Integration

class SharingNode {
  readonly shares: CallShares
  readonly kept: number[] = []
  underWay = 0
  hasOthers = true
  nowMs = 0
  wakes = 0
  isAway = false
  #continue: () => void = () => {}
  #pauses = 0
  #gate: Promise<void> = Promise.resolve()

  constructor(name: string) {
    const { db } = database
    this.shares = createCallShares({
      db: {
        ...db,
        transaction: async (work, limits) => {
          await this.#gate
          if (this.isAway) throw new Error('away')
          return db.transaction(work, limits)
        },
      },
      nodeId: name,
      hasOthers: () => this.hasOthers,
      underWay: () => this.underWay,
      onMore: () => {
        this.wakes += 1
      },
      keepConnections: (_integration, max) => void this.kept.push(max),
      monotonicMs: () => this.nowMs,
      sleep: (_ms, signal) => {
        this.#pauses += 1
        return new Promise((resolve) => {
          this.#continue = resolve
          if (signal.aborted) resolve()
          signal.addEventListener('abort', () => resolve())
        })
      },
    })
  }

  may(max = 2): number {
    return this.shares.callsMax(environment, integration, max)
  }

  /** Draws wait until the answer is called. */
  holdDraws(): () => void {
    let open = (): void => {}
    this.#gate = new Promise((resolve) => {
      open = resolve
    })
    return open
  }

  /** Until the draw is over that follows now; the first begins by itself. */
  async drawn(): Promise<void> {
    const before = this.#pauses
    this.goOn()
    await eventually(async () => this.#pauses > before)
  }

  goOn(): void {
    this.#continue()
  }
}

const rows = async () =>
  (
    await database.db.rows<{ holders: { node: string; slots: number }[] }>(sql`select holders from call_shares`)
  ).flatMap(({ holders }) => holders.map(({ node, slots }) => `${node} ${slots}`).sort())

test('a node alone asks nothing and has all of it', async () => {
  const one = new SharingNode('one')
  one.hasOthers = false
  assert.equal(one.may(), 2)
  assert.deepEqual(await rows(), [])
})

test('two nodes have together what the account takes, and each is woken when it has some', async () => {
  const [one, two] = [new SharingNode('one'), new SharingNode('two')]
  assert.equal(one.may(), 0, 'nothing before the database has said so')
  await one.drawn()
  assert.equal(one.may(), 2)
  two.may()
  await two.drawn()
  assert.equal(two.may(), 0)
  await one.drawn()
  await two.drawn()
  assert.deepEqual([one.may(), two.may()], [1, 1])
  assert.deepEqual(await rows(), ['one 1', 'two 1'])
  assert.deepEqual(one.kept, [1], 'connections that are another node’s now are closed')
  assert.ok(one.wakes >= 2 && two.wakes >= 2)
  await Promise.all([one.shares.stop(), two.shares.stop()])
  assert.deepEqual(await rows(), [])
})

test('another’s share comes as calls end, and while a draw is under way no call more may begin', async () => {
  const [one, two] = [new SharingNode('one'), new SharingNode('two')]
  one.may()
  await one.drawn()
  one.underWay = 2
  two.may()
  await two.drawn()
  await one.drawn()
  await two.drawn()
  assert.deepEqual([one.may(), two.may()], [1, 0], 'two are under way, so none may begin')
  one.underWay = 0
  const open = one.holdDraws()
  const drawing = one.drawn()
  await turn()
  assert.equal(one.may(), 0, 'the answer may be that there is none')
  open()
  await drawing
  await two.drawn()
  assert.deepEqual([one.may(), two.may()], [1, 1])
  await Promise.all([one.shares.stop(), two.shares.stop()])
})

test('a share that no one wants is left to the others, with its connections', async () => {
  const one = new SharingNode('one')
  one.may()
  await one.drawn()
  assert.deepEqual(await rows(), ['one 2'])
  one.nowMs += 2_000
  one.goOn()
  await eventually(async () => (await rows()).length === 0)
  assert.deepEqual(one.kept, [0])
})

test('without the database a share ends before the others may take it', async () => {
  const one = new SharingNode('one')
  one.may()
  await one.drawn()
  one.isAway = true
  await one.drawn()
  one.nowMs += 3_000
  assert.equal(one.may(), 0)
  one.isAway = false
  await one.drawn()
  assert.equal(one.may(), 2)
  await one.shares.stop()
})

// A new node beside one of release 0.1.0: it leaves the old one's work alone while that lives, and takes it over when it ends.
//
// 0.1.0 shows that it lives by a session lock on the key of its row in `nodes`; its leases begin with that key.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import type { Json } from '../support/app.ts'
import { eventually } from '../support/service.ts'
import type { Dump } from './dumps.ts'
import { listDumps } from './dumps.ts'
import { UpgradeScene } from './upgrade-scene.ts'

/** Two looks at least 10 s apart, on a busy machine. */
const noticedWithinMs = 60_000

const dump: Dump = listDumps().find(({ version }) => version === '0.1.0') ?? assert.fail('there is no dump of 0.1.0')
let scene: UpgradeScene
let session: pg.Client
before(async () => {
  scene = await UpgradeScene.create(dump)
  session = new pg.Client(scene.database.connection)
  await session.connect()
})
after(async () => {
  await session.end().catch(() => {})
  await scene.close()
})

/** The smallest id there is: whoever looks at nodes in order looks at this one first. */
const oldNode = { id: '00000000-0000-7000-8000-000000000001', lockKey: '-6637051927367152062' }

/** The first of the leases that 0.1.0 makes of a key: its 64 bits in front, a count behind. */
function leaseOf(lockKey: string, count: number): string {
  const hex = BigInt.asUintN(64, BigInt(lockKey)).toString(16).padStart(16, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12)}-0000-${String(count).padStart(12, '0')}`
}

const ofOldNode = (): Promise<Json[]> =>
  scene.rows(
    `select e.transaction_id as "transactionId", j.status, j.lease from jobs j join events e on e.id = j.event_id
     where e.transaction_id like 'waits-queued-_' and j.step = 0 order by 1`,
  )
const leasesAre = (place: string): Promise<number> =>
  scene.count(`(select 1 from jobs where ${place} union all select 1 from tasks where ${place}) as held`)

test('what an old node holds stays its own while its session holds the lock, and is taken over when it ends', async () => {
  const [dead] = await scene.rows('select lock_key::text as "lockKey" from nodes')
  const heldByDead = `lease between '${leaseOf(dead.lockKey, 0)}' and '${leaseOf(dead.lockKey, 999_999_999_999)}'`
  assert.ok((await leasesAre(heldByDead)) >= 8, 'the dump has leases of a node that was killed')
  // As 0.1.0 starts: the lock first, then the row.
  await session.query('select pg_advisory_lock($1::bigint)', [oldNode.lockKey])
  await scene.rows('insert into nodes (id, lock_key, started_at) values ($1, $2, now())', [oldNode.id, oldNode.lockKey])
  const hold = (): Promise<Json[]> =>
    scene.rows(
      `update jobs set lease = $1, claims = 1, due_at = now() + interval '60 seconds'
       where status = 'queued' and event_id in (select id from events where transaction_id like 'waits-queued-_')
       returning due_at as "endsAt"`,
      [leaseOf(oldNode.lockKey, 1)],
    )
  assert.equal((await hold()).length, 3)
  await scene.start()
  // The node that was killed is noticed: so was the one that lives, and it was let alone.
  await eventually(async () => (await leasesAre(heldByDead)) === 0, noticedWithinMs)
  const held = { status: 'queued', lease: leaseOf(oldNode.lockKey, 1) }
  assert.deepEqual(
    await ofOldNode(),
    [1, 2, 3].map((n) => ({ transactionId: `waits-queued-${n}`, ...held })),
  )
  assert.equal((await scene.rows('select 1 from nodes where id = $1', [oldNode.id])).length, 1)
  const [{ endsAt }] = (await hold()) as [Json]
  await session.end()
  await eventually(async () => (await ofOldNode()).every(({ status }) => status === 'completed'), noticedWithinMs)
  const [{ inTime }] = (await scene.rows('select now() < $1::timestamptz as "inTime"', [endsAt])) as [Json]
  assert.ok(inTime, 'its leases did not have to end')
  await eventually(async () => (await scene.count('nodes')) <= 1, noticedWithinMs)
})

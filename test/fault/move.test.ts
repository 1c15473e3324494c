// posthorn move: the embedded database is held before the first row leaves it, however the move ends.
import assert from 'node:assert/strict'
import type { AddressInfo, Socket } from 'node:net'
import { createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { sql } from '../../src/db/sql.ts'
import { moveTo } from '../../src/main/move.ts'
import { silentLog } from '../../src/world/log.ts'
import { BackupScene, well } from '../support/backup-scene.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'

let scene: BackupScene
let source: string
before(async () => {
  scene = await BackupScene.open()
  source = await scene.place('source')
  const service = await scene.start(source)
  await well(service, 'POST', '/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com' })
  await scene.rows(
    source,
    'insert into inbox_changes (environment_id, subscriber_id) select environment_id, id from subscribers',
  )
  await service.stop()
})
after(() => scene.close())

/** What the source holds, asked while the move has its database open. */
const holds = (): Promise<Record<string, unknown>[]> =>
  scene.rows(
    source,
    `select e.name, concat_ws(' and ', case when h.backup_at is not null then 'restore' end,
       case when h.moved_at is not null then 'move' end) as by
     from environments e left join sending_holds h on h.environment_id = e.id order by 1`,
  )

async function move(url: string, onTable: (table: string) => void = () => {}): Promise<unknown> {
  const { config } = readConfig({ POSTHORN_DATA_DIR: source, POSTHORN_DASHBOARD: 'off' })
  return moveTo(config, silentLog, url, (table, _rows, isDone) => {
    if (isDone) onTable(table)
  })
}

async function heldAfterwards(): Promise<Record<string, unknown>[]> {
  const service = await scene.start(source)
  try {
    return await holds()
  } finally {
    await service.stop()
  }
}

async function withTarget(work: (target: TestDatabase) => Promise<void>): Promise<void> {
  const target = await createTestDatabase({ empty: true })
  try {
    await work(target)
  } finally {
    await target.drop()
  }
}

test('a move that fails leaves the target empty, and the source as it was', () =>
  withTarget(async (target) => {
    let during: Promise<Record<string, unknown>[]> | undefined
    const failing = move(target.url, (table) => {
      during ??= holds()
      if (table === 'subscribers') throw new Error('The disk is full')
    })
    await assert.rejects(failing, /The disk is full/)
    assert.deepEqual(await during, [
      { name: 'Development', by: 'move' },
      { name: 'Production', by: 'move' },
    ])
    assert.deepEqual(await target.db.rows(sql`select 1 from environments`), [])
    assert.deepEqual(await heldAfterwards(), [
      { name: 'Development', by: '' },
      { name: 'Production', by: '' },
    ])
  }))

/** Passes everything on, but the answer to the commit of the move: then the connection ends, after it was carried out. */
async function cutAtCommit({ connection }: TestDatabase): Promise<{ url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const backend = createConnection(join(connection.host, `.s.PGSQL.${connection.port}`))
    let [isMove, isCut] = [false, false]
    for (const socket of [client, backend]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    client.on('data', (bytes) => {
      const text = bytes.toString('latin1')
      isMove ||= text.includes('posthorn move')
      isCut ||= isMove && text.includes('commit\0')
      backend.write(bytes)
    })
    backend.on('data', (bytes) => {
      if (isCut) client.destroy()
      else client.write(bytes)
    })
    client.on('close', () => backend.end())
    backend.on('close', () => client.destroy())
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  return {
    url: `postgres://${connection.user}@127.0.0.1:${port}/${connection.database}`,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((closed) => server.close(closed))
    },
  }
}

test('where the connection ends at the commit, the source stays held, and a repeat says that all of it was moved', () =>
  withTarget(async (target) => {
    const front = await cutAtCommit(target)
    try {
      await assert.rejects(move(front.url), /it has everything or nothing\. Repeat the command/)
    } finally {
      await front.close()
    }
    const repeated = await scene.run(source, 'move', '--to', target.url)
    assert.equal(repeated.code, 0, repeated.stderr)
    assert.match(
      repeated.stdout,
      /^Everything was moved to that database already.*\nStart every node with DATABASE_URL/,
    )
    // All that came with the move was there when the inbox was opened.
    const opened = await target.db.rows(sql`
      select pg_visible_in_snapshot(whole_xid(s.xmin), c.opened_in) as "isBefore",
        pg_visible_in_snapshot(pg_current_xact_id(), c.opened_in) as "isAfter"
      from inbox_changes c join subscribers s on s.environment_id = c.environment_id and s.id = c.subscriber_id`)
    assert.deepEqual(opened, [{ isBefore: true, isAfter: false }])
    const [{ count } = { count: 0 }] = await target.db.rows<{ count: number }>(
      sql`select count(*)::int as count from subscribers`,
    )
    assert.equal(count, 1)
    assert.deepEqual(await target.db.rows(sql`select 1 from sending_holds`), [], 'the target sends')
    const service = await scene.start(source)
    assert.deepEqual(service.held, ['Development', 'Production'])
    await service.stop()
    // Released, it goes its own way: what is held since then has not moved there.
    const released = await scene.run(source, 'release', '--yes')
    assert.equal(released.code, 0, released.stderr)
    await assert.rejects(move(target.url), /contains a Posthorn installation already\. This command moved nothing\./)
    const again = await scene.start(source)
    await scene.rows(
      source,
      'insert into sending_holds (environment_id, held_at, moved_at) select id, now(), now() from environments',
    )
    await again.stop()
    await assert.rejects(move(target.url), /contains a Posthorn installation already\. This command moved nothing\./)
  }))

test('what a restore holds is held in the target too, and a failed move lets go of nothing that was held before', () =>
  withTarget(async (target) => {
    const service = await scene.start(source)
    await scene.rows(
      source,
      `update sending_holds set held_at = '2026-01-02', backup_at = '2026-01-01', moved_at = null
       where environment_id = (select id from environments where name = 'Production')`,
    )
    await service.stop()
    const before = [
      { name: 'Development', by: 'move' },
      { name: 'Production', by: 'restore' },
    ]
    const failing = move(target.url, () => {
      throw new Error('The disk is full')
    })
    await assert.rejects(failing, /The disk is full/)
    assert.deepEqual(await heldAfterwards(), before)
    await move(target.url)
    const inTarget = await target.db.rows(sql`
      select e.name, h.held_at - h.backup_at = interval '1 day' as "isRestore", h.moved_at is not null as "isMoved"
      from sending_holds h join environments e on e.id = h.environment_id`)
    assert.deepEqual(inTarget, [{ name: 'Production', isRestore: true, isMoved: false }])
    const shown = await scene.run(source, 'release', '--dry-run', '--environment', 'Production')
    assert.match(shown.stdout, /Production: held since .* by `posthorn move`\. Release it only if that move did not/)
    assert.deepEqual(await heldAfterwards(), [
      { name: 'Development', by: 'move' },
      { name: 'Production', by: 'restore and move' },
    ])
  }))

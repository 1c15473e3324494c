// Of all who start on one data directory, exactly one holds it; the others learn who does; its death sets it free.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir, readdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { type Holding, numbersIn, takeHold } from '../../src/db/embedded/embedded-holder.ts'
import type { Identity } from '../../src/db/embedded/embedded-identity.ts'
import { EmbeddedPostgresError } from '../../src/db/embedded/embedded-postgres.ts'
import { type Child, openScene, query, type Scene } from '../support/embedded-scene.ts'

const us: Identity = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0, switches: false }

async function holdDirectory(scene: Scene): Promise<{ path: string; shortName: string }> {
  const path = join(scene.root, 'socket')
  await mkdir(path)
  return { path, shortName: path }
}

/** Lets all go at once; exactly one may win, and the others name it. */
async function race(children: readonly Child[]): Promise<Child> {
  const reports = await Promise.all(children.map((child) => child.go()))
  const winners = reports.flatMap((report, index) => ('started' in report ? [index] : []))
  assert.equal(winners.length, 1, JSON.stringify(reports))
  const winner = children[winners[0] ?? 0] as Child
  for (const report of reports) {
    if ('started' in report) {
      assert.deepEqual(await query(report.started, 'select 1 as one'), [{ one: 1 }])
      continue
    }
    assert.ok('failed' in report)
    assert.equal(report.failed.name, 'EmbeddedPostgresError')
    assert.match(report.failed.message, new RegExp(`process ${winner.pid} holds it since 20\\d\\d-\\d\\d-\\d\\dT`))
  }
  return winner
}

test('of several starts at once one wins, the others say who holds the data since when, and harm nothing', async (t) => {
  const scene = await openScene(t)
  const first = await Promise.all([1, 2, 3].map(() => scene.child()))
  const second = await Promise.all([1, 2].map(() => scene.child()))
  const winner = await race(first)
  await assert.rejects(scene.start(), (error: Error) => {
    assert.ok(error instanceof EmbeddedPostgresError)
    assert.match(error.message, new RegExp(`process ${winner.pid} holds it`))
    return true
  })
  // Freed by the kernel: the next may start at once, and again only one of them does.
  await winner.kill()
  const heir = await race(second)
  await heir.stop()
  const next = await scene.start()
  await assert.rejects(scene.start(), new RegExp(`process ${process.pid} holds it`))
  await next.stop()
  await scene.start()
})

test('hundreds of contests are never won twice', async (t) => {
  const directory = await holdDirectory(await openScene(t))
  let holders = 0
  let won = 0
  const contend = async () => {
    for (let round = 0; round < 60; round++) {
      let holding: Holding
      try {
        holding = await takeHold(directory, us, 'it')
      } catch (error) {
        assert.ok(error instanceof EmbeddedPostgresError)
        continue
      }
      holders++
      won++
      assert.equal(holders, 1)
      for (let ticks = 0; ticks < 5; ticks++) await turn()
      assert.equal(holders, 1)
      holders--
      holding.release()
    }
  }
  await Promise.all(Array.from({ length: 8 }, contend))
  assert.ok(won > 10)
  assert.equal((await readdir(directory.path)).length, 1, 'old files are tidied away')
})

test('a hold given up is taken under the next number, and a second hold names this process', async (t) => {
  const directory = await holdDirectory(await openScene(t))
  const first = await takeHold(directory, us, 'it')
  first.release()
  const holder = await takeHold(directory, us, 'it')
  assert.deepEqual(await readdir(directory.path), ['holder.2'])
  await assert.rejects(takeHold(directory, us, 'it'), new RegExp(`process ${process.pid} holds it`))
  holder.release()
})

test('one that slept through a change of holders yields to the higher number', async (t) => {
  const directory = await holdDirectory(await openScene(t))
  const first = await takeHold(directory, us, 'it')
  first.release()
  const holder = await takeHold(directory, us, 'it')
  let looks = 0
  const asBeforeAnyHeld = (path: string) => (looks++ === 0 ? Promise.resolve([]) : numbersIn(path))
  await assert.rejects(takeHold(directory, us, 'it', asBeforeAnyHeld), new RegExp(`process ${process.pid} holds it`))
  assert.deepEqual(await readdir(directory.path), ['holder.2'])
  holder.release()
})

test('a holder too busy to answer holds all the same', async (t) => {
  const directory = await holdDirectory(await openScene(t))
  const mute = createServer(() => undefined)
  await new Promise<void>((resolve) => mute.listen(join(directory.path, 'holder.7'), resolve))
  t.after(() => mute.close())
  await assert.rejects(takeHold(directory, us, 'it'), /another process of unknown pid holds it/)
})

test('the file a killed holder left locks no one out', async (t) => {
  const directory = await holdDirectory(await openScene(t))
  const script = `require('net').createServer((c) => c.end('5')).listen(process.argv[1], () => console.log('up'))`
  const doomed = spawn(process.execPath, ['-e', script, join(directory.path, 'holder.3')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise((resolve) => doomed.stdout.once('data', resolve))
  await assert.rejects(takeHold(directory, us, 'it'), EmbeddedPostgresError)
  doomed.kill('SIGKILL')
  await new Promise((resolve) => doomed.once('exit', resolve))
  const holding = await takeHold(directory, us, 'it')
  assert.ok((await readdir(directory.path)).includes('holder.4'))
  holding.release()
})

// Joining a data directory that a running service holds; where no one holds it, it is left to be started.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { joinEmbeddedPostgres } from '../../src/db/embedded/embedded-join.ts'
import { openScene, query, startedOf } from '../support/embedded-scene.ts'

test('where nothing was ever started there is nothing to join, and nothing is made', async (t) => {
  const { dataDirectory } = await openScene(t)
  assert.equal(await joinEmbeddedPostgres({ dataDirectory }), undefined)
  assert.equal(existsSync(dataDirectory), false)
})

test('a held directory is joined, also while its holder is still starting, and not once it has stopped', async (t) => {
  const scene = await openScene(t)
  const { dataDirectory } = scene
  const child = await scene.child()
  const starting = child.go()
  let joined = await joinEmbeddedPostgres({ dataDirectory })
  // Before the holder took the directory there is nothing to join yet.
  while (joined === undefined) joined = await joinEmbeddedPostgres({ dataDirectory })
  const { connection } = startedOf(await starting)
  assert.deepEqual(joined, connection)
  assert.deepEqual(await query({ connection }, 'select 1 as one'), [{ one: 1 }])
  await child.stop()
  assert.equal(await joinEmbeddedPostgres({ dataDirectory }), undefined)
})

test('a server whose service was killed is not joined, so that a start can adopt it', async (t) => {
  const scene = await openScene(t)
  const child = await scene.child()
  const { connection } = startedOf(await child.go())
  await child.kill()
  assert.deepEqual(await query({ connection }, 'select 1 as one'), [{ one: 1 }])
  assert.equal(await joinEmbeddedPostgres({ dataDirectory: scene.dataDirectory }), undefined)
  const adopted = await scene.start()
  assert.equal(adopted.adopted, true)
})

// Nothing lost, whatever fails: seeds of random events, faults and deaths on the real pipeline and the real SQL.
// A test run takes the same few seeds each time; SIMULATION_SEEDS=n hunts with n random ones, SIMULATION_FROM=n says where it
// begins, and SIMULATION_SEED=n replays one with its trace.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { runSeed } from './run-seed.ts'
import type { SimulationScene } from './scene.ts'
import { createScene } from './scene.ts'

/** Seeds that once found a mistake, of the service or of the simulation. */
const notable = [20, 49, 456_794_320, 576_456_201, 590_859_430, 780_552_088, 1_000_105, 2_000_038, 3_000_100]
/** And some that did not, so that a change that breaks one is seen. */
const usual = [...notable, ...Array.from({ length: 11 }, (_, place) => 50 + place)]
/** The rest of them is more of the same. */
const failuresShownMax = 5

let scene: SimulationScene
before(async () => {
  scene = await createScene()
})
after(() => scene.close())

test('every acknowledged event arrives as promised, whatever fails on the way', async () => {
  const { SIMULATION_SEED: replayed, SIMULATION_SEEDS: count, SIMULATION_FROM: from } = process.env
  if (replayed !== undefined) {
    const result = await runSeed(scene, Number(replayed))
    for (const line of result.trace) console.log(line)
    assert.deepEqual(result.mistakes, [])
    return
  }
  const first = from === undefined ? Math.floor(Math.random() * 1_000_000_000) : Number(from)
  const hunted = Array.from({ length: Number(count ?? 0) }, (_, place) => first + place)
  const seeds = count === undefined ? usual : hunted
  const failures: string[] = []
  let steps = 0
  const startedAt = Date.now()
  for (const seed of seeds) {
    const result = await runSeed(scene, seed)
    steps += result.steps
    if (process.env['SIMULATION_LOUD'])
      console.log(`seed ${result.seed}`, result.steps, result.trace.length, Date.now() - startedAt)
    if (result.mistakes.length === 0) continue
    failures.push(`seed ${result.seed}: ${result.mistakes.slice(0, 6).join('; ')}`)
    console.log(failures.at(-1))
    if (count === undefined && failures.length >= failuresShownMax) break
  }
  const tookMs = Date.now() - startedAt
  console.log(`${seeds.length} seeds from ${seeds[0]} in ${tookMs} ms, ${steps} steps, ${failures.length} failed`)
  assert.deepEqual(failures, [])
})

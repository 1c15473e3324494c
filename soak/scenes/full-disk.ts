// A full disk: the data directory lies on a small file system of its own, which is filled up and emptied again.
import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { between } from '../random.ts'
import type { Scene } from '../scene.ts'
import type { Stage } from '../stage.ts'
import { prepareOneNode } from './one-node.ts'

/** The database and its log of changes fit into it; the filler takes the rest. */
const size = '2g'
const fullForMs = [2_000, 8_000] as const
/** The disk fills up in the middle of it. */
const burstMs = 6_000
const readyWithinMs = 60_000

const mount = (at: string): void => {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0711`, 'posthorn-soak', at], { stdio: 'ignore' })
}
const unmount = (at: string): void => {
  execFileSync('umount', ['--lazy', at], { stdio: 'ignore' })
}

/** Writes until nothing fits any more. */
function fill(path: string): void {
  const file = openSync(path, 'w')
  const chunk = Buffer.alloc(1024 * 1024)
  try {
    for (let length = chunk.length; length >= 512; ) {
      try {
        if (writeSync(file, chunk, 0, length) < length) length = Math.floor(length / 2)
      } catch {
        length = Math.floor(length / 2)
      }
    }
  } finally {
    closeSync(file)
  }
}

/** After a full disk the database may first have to recover. */
async function untilReady(stage: Stage): Promise<number> {
  const deadline = Date.now() + readyWithinMs
  while (Date.now() < deadline) {
    await stage.revive()
    if (await stage.nodes[0]?.isReady()) return Date.now()
    await sleep(50)
  }
  throw new Error(`The node was not ready ${readyWithinMs / 1000} s after the disk had room again`)
}

export const fullDisk: Scene = {
  name: 'full-disk',
  what: 'One node; the disk of its embedded database is full for some seconds, again and again.',
  kills: 8,
  unavailable: () => {
    if (process.getuid?.() !== 0) return 'it mounts a small file system, which only root may'
    const probe = mkdtempSync(join(tmpdir(), 'posthorn-soak-mount-'))
    try {
      mount(probe)
      unmount(probe)
      return undefined
    } catch {
      return 'this system does not allow mounting a tmpfs'
    } finally {
      rmdirSync(probe)
    }
  },
  prepare: async (stage) => {
    const directory = join(stage.directory, 'node-1')
    mkdirSync(directory, { mode: 0o711 })
    mount(directory)
    stage.onClose(() => unmount(directory))
    await prepareOneNode(stage)
  },
  faults: async (stage) => {
    const filler = join(stage.directory, 'node-1', 'filler')
    stage.pace.burstMs = burstMs
    while (stage.pace.next()) {
      await sleep(stage.intervalMs())
      const startedAt = Date.now()
      stage.recovery.killed()
      fill(filler)
      await sleep(between(stage.random, fullForMs))
      rmSync(filler)
      const readyAt = await untilReady(stage)
      stage.recovery.ready(readyAt)
      const intervalMs = stage.intervalMs()
      await stage.untilNextFault({ startedAt, readyAt, intervalMs, workMs: intervalMs })
    }
    await stage.startAll()
  },
}

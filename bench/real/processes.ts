// What a service costs the machine: processor time and memory of its processes and of all that they started (Linux).
import { readdir, readFile } from 'node:fs/promises'

interface ProcessTimes {
  readonly parent: number
  /** Its own time and that of children it has buried, in hundredths of a second. */
  readonly ticks: number
}

const ticksPerSecond = 100

/** The processes named and everything below them. */
async function treeOf(roots: readonly number[]): Promise<Map<number, ProcessTimes>> {
  const all = new Map<number, ProcessTimes>()
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  for (const name of names) {
    const times = await timesOf(name)
    if (times !== undefined) all.set(Number(name), times)
  }
  const isBelow = (pid: number): boolean => {
    if (roots.includes(pid)) return true
    const parent = all.get(pid)?.parent ?? 0
    return parent > 1 && isBelow(parent)
  }
  return new Map([...all].filter(([pid]) => isBelow(pid)))
}

async function timesOf(pid: string): Promise<ProcessTimes | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  if (stat === undefined) return undefined
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // parent, then utime, stime, cutime, cstime: a database connection that has ended counts with its server.
  return { parent: Number(fields[1]), ticks: fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) }
}

export async function processorSecondsOf(roots: readonly number[]): Promise<number> {
  let ticks = 0
  for (const times of (await treeOf(roots)).values()) ticks += times.ticks
  return ticks / ticksPerSecond
}

/** Pss: memory that several processes share is counted once. */
export async function memoryMegabytesOf(roots: readonly number[]): Promise<number> {
  let kilobytes = 0
  for (const pid of (await treeOf(roots)).keys()) {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
    kilobytes += Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0)
  }
  return kilobytes / 1024
}

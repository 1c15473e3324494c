// Where databases of tests go that kill processes and never the machine: memory needs no syncing to disk.
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'

const memory = '/dev/shm'
/** Several databases with their logs; a container often has a small one. */
const freeBytesMin = 4 * 1024 ** 3

export async function quickFolder(): Promise<string> {
  const freeBytes = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  return freeBytes >= freeBytesMin ? memory : tmpdir()
}

// What a killed restore leaves in the data directory: a cluster that is no database yet, perhaps with a server on it.
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Binaries } from './embedded-binaries.ts'
import { restoringPrefix } from './embedded-cluster.ts'
import type { Home } from './embedded-home.ts'
import { stopLeftover } from './embedded-postmaster.ts'

/** The same places as below any data directory, for a cluster that is being prepared. */
export const homeIn = (dataDirectory: string, { identity }: Home): Home => ({
  dataDirectory,
  cluster: join(dataDirectory, 'postgres'),
  socketDirectory: join(dataDirectory, 'socket'),
  identity,
  moved: false,
})

/** Only for the holder of the data directory: a restore that is under way holds it too. */
export async function removeLeftovers(home: Home, binaries: Binaries): Promise<void> {
  for (const name of await readdir(home.dataDirectory)) {
    if (!name.startsWith(restoringPrefix)) continue
    const leftover = join(home.dataDirectory, name)
    await stopLeftover({ home: homeIn(leftover, home), binaries, socketName: join(leftover, 'socket'), settings: {} })
    await rm(leftover, { recursive: true, force: true })
  }
}

// Folders: few enough files that a reader sees them all at once. Beyond that a folder wants sub-folders by subject.
import { posix } from 'node:path'
import type { Breach, Sources } from './sources.ts'
import { isUnitTest } from './sources.ts'

export const folderFilesMax = 25

/** Folders that may hold more, each with its reason. */
const exceptions: readonly { readonly folder: RegExp; readonly reason: string }[] = [
  {
    folder: /^src\/providers\/(?:chat|email|in-app|push|sms)$/,
    reason: 'one file per provider, all alike and found by the name of the provider: a sub-folder would only hide some',
  },
]

/** Unit tests stand beside their code and are not counted. What is in a sub-folder counts there only. */
export function fullFolders(sources: Sources): Breach[] {
  const counts = new Map<string, number>()
  for (const file of sources.keys()) {
    if (isUnitTest(file)) continue
    const folder = posix.dirname(file)
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts].flatMap(([folder, count]) => {
    if (count <= folderFilesMax || exceptions.some((exception) => exception.folder.test(folder))) return []
    return [{ file: folder, line: 1, what: `holds ${count} files; ${folderFilesMax} are allowed` }]
  })
}

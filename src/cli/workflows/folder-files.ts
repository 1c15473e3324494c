// Files within one folder: read and written so that nothing outside it is touched, whatever names and links say.
import { lstat, mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { TextFile } from '../../render/workflow-text/workflow-texts.ts'
import { UsageError } from '../command.ts'

/** Far more than the longest text of a workflow. */
const fileBytesMax = 2 * 1024 * 1024

/** The content of a file in the folder; `from` is the file that refers to it, if any. */
export async function readBelow(folder: string, name: string, from?: string): Promise<string> {
  const prefix = from === undefined ? '' : `${from}: `
  const path = resolve(folder, name)
  const outside = new UsageError(`${prefix}${name} is outside ${folder}`)
  if (!isBelow(resolve(folder), path)) throw outside
  return orExplained(`${prefix}${join(folder, name)} cannot be read`, async () => {
    const real = await realpath(path)
    if (!isBelow(await realpath(folder), real)) throw outside
    // Measured before it is read: a pipe has no end, and a large file would fill the memory.
    const found = await stat(real)
    if (!found.isFile()) throw new UsageError(`${prefix}${name} is not a file`)
    if (found.size > fileBytesMax) throw new UsageError(`${prefix}${name} is larger than ${fileBytesMax} bytes`)
    return readFile(real, 'utf8')
  })
}

/** The current content of these files; empty for files that do not exist. */
export function readIfThere(folder: string, files: readonly TextFile[]): Promise<TextFile[]> {
  return Promise.all(
    files.map(async ({ path }) => ({ path, text: (await isThere(folder, path)) ? await readBelow(folder, path) : '' })),
  )
}

const isThere = (folder: string, name: string): Promise<boolean> =>
  lstat(join(folder, name)).then(
    () => true,
    () => false,
  )

export async function writeFiles(folder: string, files: readonly TextFile[]): Promise<void> {
  for (const { path, text } of files) {
    const file = resolve(folder, path)
    const outside = new UsageError(`${path} is outside ${folder}: it was not written`)
    if (!isBelow(resolve(folder), file)) throw outside
    await orExplained(`${join(folder, path)} cannot be written`, async () => {
      await mkdir(dirname(file), { recursive: true })
      const [top, parent] = [await realpath(folder), await realpath(dirname(file))]
      if (parent !== top && !isBelow(top, parent)) throw outside
      // Writing goes through a link, to wherever it leads.
      const there = await lstat(file).catch(() => undefined)
      if (there?.isSymbolicLink()) throw new UsageError(`${join(folder, path)} is a link: it was not written`)
      await writeFile(file, text)
    })
  }
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** Errors of the file system are for the operator to fix. */
async function orExplained<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (error instanceof UsageError || code === undefined) throw error
    throw new UsageError(`${what} (${code})`)
  }
}

// The built service, copied aside: a long run must not change when a source file does.
import { cp, mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const projectRoot = fileURLToPath(new URL('..', import.meta.url))

export interface Installation {
  readonly directory: string
  /** Node's arguments, the same as those of `npm start`. */
  readonly startArgs: readonly string[]
  /** Names the sources that it was built from. */
  readonly build: string
}

export async function install(into: string): Promise<Installation> {
  await mkdir(into)
  for (const name of ['dist', 'scripts', 'package.json', 'package-lock.json']) {
    await cp(join(projectRoot, name), join(into, name), { recursive: true })
  }
  await symlink(join(projectRoot, 'node_modules'), join(into, 'node_modules'))
  const { scripts } = JSON.parse(await readFile(join(into, 'package.json'), 'utf8')) as { scripts: { start: string } }
  const build = await readFile(join(into, 'dist', '.built'), 'utf8')
  // Without the `exec node` before it: the process that we start is the service itself.
  return { directory: into, startArgs: scripts.start.split(' ').slice(2), build: build.slice(0, 12) }
}

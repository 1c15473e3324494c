// The root of the project, wherever a test runs from: its own place, or the folder the tests were compiled into.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const projectRoot = rootAbove(import.meta.dirname)

function rootAbove(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder
  const above = dirname(folder)
  if (above === folder) throw new Error(`there is no package.json above ${import.meta.dirname}`)
  return rootAbove(above)
}

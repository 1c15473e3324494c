// The public inbox packages, where a folder has them: they are no dependencies of the project.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Json } from './app.ts'

/** A folder with node_modules. */
export const packagesFolder = process.env['NOVU_PACKAGES'] ?? ''

const placeOf = (name: string): string => join(packagesFolder, 'node_modules', name)

export const hasPackage = (name: string): boolean => packagesFolder !== '' && existsSync(placeOf(name))

/** Its name and version, as published: an alias has the name of its package. */
export function versionOf(name: string): string {
  const { name: published, version } = JSON.parse(readFileSync(join(placeOf(name), 'package.json'), 'utf8'))
  return `${published} ${version}`
}

export const requirePackage = (name: string): Json => createRequire(join(packagesFolder, 'package.json'))(name)

/** Why tests that need it are skipped; false where it is there. */
export const withoutPackage = (name: string): string | false =>
  !hasPackage(name) && `NOVU_PACKAGES names no folder with ${name}, which is no dependency of the project`

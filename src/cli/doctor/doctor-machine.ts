// The checks of posthorn doctor that look at this machine: Node, settings, the data directory, the encryption key.
import type { Stats } from 'node:fs'
import { constants } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { readKeyFile } from '../../world/key-file.ts'
import type { Check, Finding } from './diagnosis.ts'
import { failed, ok, warning } from './diagnosis.ts'
import type { DoctorProbes } from './doctor-probes.ts'
import { isLocal } from './doctor-probes.ts'

/** As package.json and scripts/node-version.mjs have it. */
const nodeNeeded = [20, 19] as const
const megabyte = 1024 * 1024
/** A day of a busy service fits; less, and it is time to look. */
const freeBytesLow = 2048 * megabyte
/** PostgreSQL stops when nothing is left: its log alone takes some of it. */
const freeBytesMin = 256 * megabyte

export const nodeCheck: Check<DoctorProbes> = {
  name: 'node',
  run: () => nodeFinding(process.versions.node),
}

export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isOld = major < nodeNeeded[0] || (major === nodeNeeded[0] && minor < nodeNeeded[1])
  if (!isOld) return ok(`Node.js ${version} is recent enough.`, { version })
  const needed = nodeNeeded.join('.')
  return failed(`Node.js ${version} is older than ${needed}.`, 'Install a current release: https://nodejs.org', {
    version,
  })
}

export const settingsCheck: Check<DoctorProbes> = {
  name: 'settings',
  run: ({ terminal }) => {
    const { mistakes, warnings } = terminal.settings
    const advice = 'docs/configuration.md has every setting.'
    if (mistakes.length > 0) return failed(`${mistakes.join('. ')}.`, advice)
    if (warnings.length > 0) return warning(`${warnings.join('. ')}.`, advice)
    return ok('All settings are understood.')
  },
}

export const dataDirectoryCheck: Check<DoctorProbes> = {
  name: 'data directory',
  run: async ({ terminal: { config }, url }) => {
    const path = resolve(config.dataDirectory)
    const found = await statOf(path)
    const isNeeded = config.databaseUrl === undefined || config.encryptionKey === undefined
    if (found === undefined) {
      if (!isNeeded || !isLocal(url)) return ok(`There is no ${path}, and none is needed here.`)
      return warning(`There is no ${path} yet.`, 'The first start makes it; POSTHORN_DATA_DIR names another place.')
    }
    if (!found.isDirectory())
      return failed(`${path} is no directory.`, 'Move it away, or set POSTHORN_DATA_DIR to another place.')
    const isWritable = await access(path, constants.W_OK | constants.X_OK).then(
      () => true,
      () => false,
    )
    if (!isWritable)
      return failed(`${path} cannot be written by this user.`, 'Run as the user of the service, or give it the right.')
    const { bavail, bsize } = await statfs(path)
    return freeFinding(path, bavail * bsize)
  },
}

export function freeFinding(path: string, freeBytes: number): Finding {
  const said = `${path} can be written; ${Math.floor(freeBytes / megabyte)} MB are free.`
  const data = { path, freeBytes }
  if (freeBytes < freeBytesMin) return failed(said, 'Make room at once: the database stops when nothing is left.', data)
  if (freeBytes < freeBytesLow) return warning(said, 'Make room, or keep less: POSTHORN_RETENTION_DAYS.', data)
  return ok(said, data)
}

export const encryptionKeyCheck: Check<DoctorProbes> = {
  name: 'encryption key',
  run: async ({ terminal: { config }, url }) => {
    if (config.encryptionKey !== undefined) return ok('POSTHORN_ENCRYPTION_KEY is set. Keep a copy elsewhere.')
    const file = join(resolve(config.dataDirectory), 'encryption.key')
    const found = await readKeyFile(file)
    if (found === undefined) {
      if (!isLocal(url)) return ok('There is none here, and the service runs elsewhere.')
      return warning(
        `There is no ${file}, and POSTHORN_ENCRYPTION_KEY is not set.`,
        'The very first start makes it. A service that was started before needs the key it had then.',
      )
    }
    const mode = (await stat(file)).mode & 0o777
    if ((mode & 0o077) !== 0) {
      return warning(`Others on this machine may read ${file}.`, `Close it: chmod 600 ${file}`)
    }
    return ok(`${file} holds a key, and only its owner may read it. Keep a copy elsewhere.`)
  },
}

export const transportCheck: Check<DoctorProbes> = {
  name: 'transport',
  run: ({ url }) => {
    if (url.startsWith('https:')) return ok('The service is asked over TLS.')
    if (isLocal(url)) return ok('The service is asked on this machine.')
    return warning(`The API key travels unencrypted to ${url}.`, 'Put TLS before the service, and use https.')
  },
}

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

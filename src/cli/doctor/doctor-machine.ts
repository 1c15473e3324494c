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
/** PostgreSQL stops when the disk is full: its log alone needs some space. */
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
    const advice = 'docs/configuration.md lists every setting.'
    if (mistakes.length > 0) return failed(`${mistakes.join('. ')}.`, advice)
    if (warnings.length > 0) return warning(`${warnings.join('. ')}.`, advice)
    return ok('All settings are valid.')
  },
}

export const dataDirectoryCheck: Check<DoctorProbes> = {
  name: 'data directory',
  run: async ({ terminal: { config }, url }) => {
    const path = resolve(config.dataDirectory)
    const found = await statOf(path)
    const isNeeded = config.databaseUrl === undefined || config.encryptionKey === undefined
    if (found === undefined) {
      if (!isNeeded || !isLocal(url)) return ok(`${path} does not exist and is not needed here.`)
      return warning(`${path} does not exist yet.`, 'The first start creates it; POSTHORN_DATA_DIR sets another place.')
    }
    if (!found.isDirectory())
      return failed(`${path} is not a directory.`, 'Move it, or set POSTHORN_DATA_DIR to another place.')
    const isWritable = await access(path, constants.W_OK | constants.X_OK).then(
      () => true,
      () => false,
    )
    if (!isWritable)
      return failed(
        `${path} is not writable for this user.`,
        'Run as the user of the service, or change the permissions.',
      )
    const { bavail, bsize } = await statfs(path)
    return freeFinding(path, bavail * bsize)
  },
}

export function freeFinding(path: string, freeBytes: number): Finding {
  const said = `${path} is writable; ${Math.floor(freeBytes / megabyte)} MB are free.`
  const data = { path, freeBytes }
  if (freeBytes < freeBytesMin)
    return failed(said, 'Free disk space at once: the database stops when the disk is full.', data)
  if (freeBytes < freeBytesLow)
    return warning(said, 'Free disk space, or keep less data: POSTHORN_RETENTION_DAYS.', data)
  return ok(said, data)
}

export const encryptionKeyCheck: Check<DoctorProbes> = {
  name: 'encryption key',
  run: async ({ terminal: { config }, url }) => {
    if (config.encryptionKey !== undefined) return ok('POSTHORN_ENCRYPTION_KEY is set. Keep a copy elsewhere.')
    const file = join(resolve(config.dataDirectory), 'encryption.key')
    const found = await readKeyFile(file)
    if (found === undefined) {
      if (!isLocal(url)) return ok('There is no key here; the service runs elsewhere.')
      return warning(
        `${file} does not exist, and POSTHORN_ENCRYPTION_KEY is not set.`,
        'The very first start creates it. A service that was started before needs its original key.',
      )
    }
    const mode = (await stat(file)).mode & 0o777
    if ((mode & 0o077) !== 0) {
      return warning(`Other users of this machine can read ${file}.`, `Restrict it: chmod 600 ${file}`)
    }
    return ok(`${file} contains a key that only its owner can read. Keep a copy elsewhere.`)
  },
}

export const transportCheck: Check<DoctorProbes> = {
  name: 'transport',
  run: ({ url }) => {
    if (url.startsWith('https:')) return ok('The service is reached over TLS.')
    if (isLocal(url)) return ok('The service is reached on this machine.')
    return warning(
      `The API key is sent unencrypted to ${url}.`,
      'Put a TLS proxy in front of the service, and use https.',
    )
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

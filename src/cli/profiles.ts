// What `posthorn login` remembers: services and the API keys that open them, in a file that only its owner can read.
import { chmod, mkdir, open, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Config } from '../config.ts'
import { UsageError } from './command.ts'

export interface Profile {
  readonly name: string
  readonly url: string
  readonly key: string
  /** The environment that the key opens. */
  readonly environment: string
}

/** Far more than any file of profiles has. */
const fileBytesMax = 1024 * 1024

export const profileFileOf = ({ profileFile }: Pick<Config, 'profileFile'>): string =>
  profileFile ?? join(homedir(), '.config', 'posthorn', 'profiles.json')

/** The newest first; empty if there is no file. */
export async function readProfiles(config: Pick<Config, 'profileFile'>): Promise<Profile[]> {
  const file = profileFileOf(config)
  const text = await readPrivate(file)
  if (text === undefined) return []
  try {
    const { profiles } = JSON.parse(text) as { profiles: unknown }
    if (Array.isArray(profiles) && profiles.every(isProfile)) return profiles
  } catch {
    // Reported below.
  }
  throw new UsageError(`${file} is not a file of profiles: remove it, and use \`posthorn login\` again`)
}

async function readPrivate(file: string): Promise<string | undefined> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new UsageError(`${file} cannot be read (${error.code ?? error.message})`)
  })
  if (handle === undefined) return undefined
  try {
    const { mode, size } = await handle.stat()
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new UsageError(`${file} contains API keys and other users can read it: chmod 600 ${file}`)
    }
    if (size > fileBytesMax) throw new UsageError(`${file} is larger than ${fileBytesMax} bytes`)
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}

function isProfile(value: unknown): value is Profile {
  const members = ['name', 'url', 'key', 'environment']
  return (
    typeof value === 'object' && value !== null && members.every((name) => typeof (value as never)[name] === 'string')
  )
}

/** Replaced as a whole: a command that reads it at the same time sees the old file or the new one. */
async function writeProfiles(config: Pick<Config, 'profileFile'>, profiles: readonly Profile[]): Promise<void> {
  const file = profileFileOf(config)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const fresh = `${file}.${process.pid}`
  const handle = await open(fresh, 'w', 0o600)
  try {
    await handle.writeFile(`${JSON.stringify({ profiles }, null, 2)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await chmod(fresh, 0o600)
  await rename(fresh, file)
}

/** The newest login is the one that commands use. */
export async function saveProfile(config: Pick<Config, 'profileFile'>, profile: Profile): Promise<void> {
  const others = (await readProfiles(config)).filter(({ name }) => name !== profile.name)
  await writeProfiles(config, [profile, ...others])
}

/** After an environment was renamed, its logins still mean it. */
export async function renameInProfiles(
  config: Pick<Config, 'profileFile'>,
  { url, from, to }: { readonly url: string; readonly from: string; readonly to: string },
): Promise<void> {
  const all = await readProfiles(config)
  const renamed = all.map((one) =>
    one.url === url && one.environment === from
      ? { ...one, environment: to, name: one.name === from ? to : one.name }
      : one,
  )
  if (all.some((one, place) => one !== renamed[place])) await writeProfiles(config, renamed)
}

export async function removeProfiles(
  config: Pick<Config, 'profileFile'>,
  isRemoved: (profile: Profile) => boolean,
): Promise<Profile[]> {
  const all = await readProfiles(config)
  const left = all.filter((profile) => !isRemoved(profile))
  if (left.length === 0) await rm(profileFileOf(config), { force: true })
  else if (left.length < all.length) await writeProfiles(config, left)
  return all.filter(isRemoved)
}

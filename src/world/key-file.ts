// The file of the encryption key: created once, completely or not at all, and readable by its owner only.
import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { diskTroubleAt } from './disk-trouble.ts'

const keyBytes = 32

/** There is a file without a key, or none can be created. */
export class KeyFileError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'KeyFileError'
  }
}

export async function readKeyFile(file: string): Promise<Buffer | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error.code === undefined ? error : new KeyFileError(`The encryption key cannot be read: ${error.message}`)
  })
  if (text === undefined) return undefined
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length === keyBytes) return key
  throw new KeyFileError(
    `${file} does not hold an encryption key (${keyBytes} bytes in base64). Restore it from a backup: what it encrypted cannot be decrypted without it.`,
  )
}

/** Of several that make it at once one wins, and all return the winner's key. */
export async function makeKeyFile(file: string): Promise<Buffer> {
  try {
    return await makeOnDisk(file)
  } catch (error) {
    const trouble = await diskTroubleAt(dirname(file), error)
    if (trouble === undefined) throw error
    throw new KeyFileError(
      `The encryption key file ${file} cannot be created: ${trouble}. ` +
        'Fix the problem, choose another directory with POSTHORN_DATA_DIR, or set POSTHORN_ENCRYPTION_KEY.',
    )
  }
}

async function makeOnDisk(file: string): Promise<Buffer> {
  const aside = `${file}.new-${randomBytes(4).toString('hex')}`
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  try {
    const handle = await open(aside, 'wx', 0o600)
    try {
      await handle.writeFile(`${randomBytes(keyBytes).toString('base64')}\n`)
      // Lost in a power cut, it would take every sealed credential with it.
      await handle.sync()
    } finally {
      await handle.close()
    }
    // A link, not a rename: it fails when the file is there already.
    await link(aside, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(aside, { force: true })
  }
  await syncDirectory(dirname(file))
  const key = await readKeyFile(file)
  if (key === undefined) throw new KeyFileError(`${file} was removed while it was being created. Start again.`)
  return key
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}

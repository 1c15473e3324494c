// Secrets that are given as files, as orchestrators mount them: NAME_FILE in place of NAME.
import { readFileSync } from 'node:fs'

/** A key, a password or an address: none is longer. */
const secretLengthMax = 64 * 1024

export const fileVariable = (variable: string): string => `${variable}_FILE`

/**
 * The content of the file, without the line break at its end. Throws an error message; no part of the content is
 * repeated.
 */
export function secretIn(path: string): string {
  let content: string
  try {
    content = readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(
      `refers to a file that cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}): ${path}`,
    )
  }
  if (content.length > secretLengthMax) throw new Error(`refers to a file that is too large for a secret: ${path}`)
  const secret = content.replace(/[\r\n]+$/, '')
  if (secret === '') throw new Error(`refers to an empty file: ${path}`)
  return secret
}

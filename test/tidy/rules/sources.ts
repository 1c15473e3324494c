// The files a tidy rule looks at: path from the project's root → text. Rules take a map, so that a test can hand them a sample.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { projectRoot } from '../../support/project-root.ts'

export type Sources = ReadonlyMap<string, string>

/** A broken rule: where, and what is wrong there. */
export interface Breach {
  readonly file: string
  readonly line: number
  readonly what: string
}

export function readSources(folders: readonly string[], extensions: readonly string[]): Sources {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && extensions.some((extension) => entry.name.endsWith(extension)))
      .map((entry) => relative(projectRoot, join(entry.parentPath, entry.name))),
  )
  return new Map(paths.sort().map((path) => [path, readProjectFile(path)]))
}

export function readProjectFile(path: string): string {
  return readFileSync(join(projectRoot, path), 'utf8')
}

export const sample = (files: Readonly<Record<string, string>>): Sources => new Map(Object.entries(files))

/** The files whose path passes. */
export function only(sources: Sources, passes: (path: string) => boolean): Sources {
  return new Map([...sources].filter(([path]) => passes(path)))
}

export const isUnitTest = (path: string): boolean => path.endsWith('.test.ts')

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

/** One sentence a breach, for the message of a failed assertion. */
export function reported(breaches: readonly Breach[]): string[] {
  return breaches.map(({ file, line, what }) => `${file}:${line} ${what}`)
}

/** Every match of a pattern in a text of which some parts may have been blanked. */
export function breachesOf(
  file: string,
  text: string,
  pattern: RegExp,
  what: (match: RegExpExecArray) => string,
): Breach[] {
  return [...text.matchAll(pattern)].map((match) => ({ file, line: lineAt(text, match.index), what: what(match) }))
}

// Files that import each other in a circle, types included: none of them can be read first.
import { posix } from 'node:path'
import { importsOf } from './floors.ts'
import type { Sources } from './sources.ts'

/** Each circle by its files, in order. */
export function circlesIn(sources: Sources): string[][] {
  const imports = new Map([...sources].map(([file, text]) => [file, importedFiles(file, text, sources)]))
  const circles = new Map<string, string[]>()
  const done = new Set<string>()
  const walk = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file)
    if (at !== -1) {
      const circle = path.slice(at).sort()
      circles.set(circle.join(' '), circle)
      return
    }
    if (done.has(file)) return
    for (const next of imports.get(file) ?? []) walk(next, [...path, file])
    done.add(file)
  }
  for (const file of sources.keys()) walk(file, [])
  return [...circles.values()]
}

function importedFiles(file: string, text: string, sources: Sources): string[] {
  return importsOf(text).flatMap(({ specifier = '' }) => {
    const target = specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : ''
    return sources.has(target) ? [target] : []
  })
}

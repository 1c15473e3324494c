// Links: a relative link of a document leads to a file or a folder of the project.
import { posix } from 'node:path'
import type { Breach, Sources } from './sources.ts'
import { lineAt } from './sources.ts'

/** `[text](target)`, images and titles among them, and `[name]: target` at the beginning of a line. */
const link = /\]\(\s*(?:<([^<>\n]*)>|([^\s()]+))(?:\s+["'][^\n]*?["'])?\s*\)|^ {0,3}\[[^\]\n]+\]:\s*(\S+)/gm

/**
 * `paths` are the files of the project. A link to a folder is good when there is a file in it.
 * Limit: what follows a `#` is not looked at, nor are targets that hold brackets.
 */
export function linkBreaches(documents: Sources, paths: Iterable<string>): Breach[] {
  const places = placesOf(paths)
  return [...documents].flatMap(([file, text]) =>
    [...withoutCode(text).matchAll(link)].flatMap((match) => {
      const target = match[1] ?? match[2] ?? match[3] ?? ''
      const what = mistakeOf(file, target, places)
      return what === undefined ? [] : [{ file, line: lineAt(text, match.index), what }]
    }),
  )
}

function mistakeOf(file: string, target: string, places: ReadonlySet<string>): string | undefined {
  // Another site, or a place in this very document.
  if (/^[a-z][a-z0-9+.-]*:|^\/\/|^#/i.test(target)) return undefined
  if (target.startsWith('/')) return `links to ${target}, which only means something on one host`
  const path = decoded(target.replace(/[?#].*$/, ''))
  const place = posix.join(posix.dirname(file), path).replace(/\/$/, '')
  return places.has(place) ? undefined : `links to ${target}, and there is no ${place}`
}

function placesOf(paths: Iterable<string>): Set<string> {
  const places = new Set(['.'])
  for (const path of paths) {
    for (let place = path; place !== '.'; place = posix.dirname(place)) places.add(place)
  }
  return places
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Fenced blocks, inline code and comments are blanked; every character keeps its offset. */
function withoutCode(text: string): string {
  const code = /^( *)(```+|~~~+)[^\n]*\n[\s\S]*?(?:^ *\2|$(?![\s\S]))|<!--[\s\S]*?-->|(`+)(?!`)[^\n]*?[^`]\3(?!`)/gm
  return text.replaceAll(code, (found) => found.replaceAll(/[^\n]/g, ' '))
}

// Migrations expand: a node of the release before runs on beside the new one, and must still read and write every table.
import type { Breach, Sources } from './sources.ts'
import { lineAt } from './sources.ts'

/** A contraction that is right all the same: no release that may still run uses what goes. */
export interface Contraction {
  readonly file: string
  /** A part of the statement. */
  readonly within: string
  readonly reason: string
}

/** The last one of release 0.1.0: whatever came before was never run beside another release. */
const lastBefore = 10

const contractions: readonly { readonly pattern: RegExp; readonly what: string }[] = [
  { pattern: /\bdrop\s+table\b/, what: 'drops a table' },
  { pattern: /\btruncate\b/, what: 'empties a table' },
  { pattern: /\bdrop\s+column\b/, what: 'drops a column' },
  { pattern: /\brename\b/, what: 'renames' },
  { pattern: /\balter\s+column\s+\S+\s+(?:set\s+data\s+)?type\b/, what: 'changes the type of a column' },
  { pattern: /\bset\s+not\s+null\b/, what: 'makes a column required' },
  { pattern: /\badd\s+column\b(?!.*\bdefault\b).*\bnot\s+null\b/, what: 'adds a required column without a default' },
]

export function contractionBreaches(migrations: Sources, allowed: readonly Contraction[]): Breach[] {
  return [...migrations].flatMap(([file, text]) => {
    if (numberOf(file) <= lastBefore) return []
    const code = blanked(text)
    const created = new Set(
      [...code.matchAll(/\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)/g)].map(([, name]) => name),
    )
    return partsOf(code).flatMap(({ part, offset }) => {
      const flat = part.replaceAll(/\s+/g, ' ')
      // A table that is made by the same file is known to no older release.
      if (created.has(/\b(?:alter|drop) table (?:if exists )?(?:only )?(\w+)/.exec(flat)?.[1])) return []
      if (allowed.some((one) => one.file === file && flat.includes(one.within.toLowerCase()))) return []
      const line = lineAt(text, offset)
      return contractions.flatMap(({ pattern, what }) =>
        pattern.test(flat) ? [{ file, line, what: `${what}: expand now, contract one release later` }] : [],
      )
    })
  })
}

/** Those that no statement needs any more. */
export function staleContractions(migrations: Sources, allowed: readonly Contraction[]): string[] {
  const needed = (one: Contraction): boolean =>
    contractionBreaches(migrations, allowed).length <
    contractionBreaches(
      migrations,
      allowed.filter((other) => other !== one),
    ).length
  return allowed.filter((one) => !needed(one)).map(({ file, within }) => `${file}: ${within}`)
}

const numberOf = (file: string): number => Number(/(\d{4})-[^/]*$/.exec(file)?.[1])

/** In lower case, without comments and the bodies of functions, which are not run here; offsets stay. */
function blanked(text: string): string {
  const blank = (part: string): string => part.replaceAll(/[^\n]/g, ' ')
  return text
    .replaceAll(/--.*$/gm, blank)
    .toLowerCase()
    .replaceAll(/(?<=\bcreate\s+(?:or\s+replace\s+)?function\b[^$]*)\$(\w*)\$[\s\S]*?\$\1\$/g, blank)
}

/** Statements, and the parts of an `alter table` with several: each adds or drops one thing. */
function partsOf(code: string): { part: string; offset: number }[] {
  let offset = 0
  return code.split(';').flatMap((statement) => {
    const start = offset + (statement.length - statement.trimStart().length)
    offset += statement.length + 1
    const head = /^\s*alter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?\w+/.exec(statement)?.[0]
    if (head === undefined) return [{ part: statement, offset: start }]
    return statement
      .slice(head.length)
      .split(/,(?=\s*(?:add|drop|alter|rename)\b)/)
      .map((part) => ({ part: `${head} ${part}`, offset: start }))
  })
}

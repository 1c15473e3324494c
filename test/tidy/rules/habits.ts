// Habits: where the process's variables are read, what is not printed, not left undone, not exported by default.
import { blank } from './code-only.ts'
import type { Breach, Sources } from './sources.ts'
import { breachesOf } from './sources.ts'

/** The command line reads the variables once and hands a Config down. */
export function variableReads(sources: Sources): Breach[] {
  return inCode(
    sources,
    /\bprocess\s*(?:\??\.\s*env\b|\[)|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b/g,
    'reads process.env',
    (path) => {
      return path.startsWith('src/cli/') || path === 'src/main.ts'
    },
  ).concat(importsOfProcess(sources))
}

function importsOfProcess(sources: Sources): Breach[] {
  return [...sources].flatMap(([file, text]) =>
    breachesOf(
      file,
      blank(text).withStrings,
      /\bfrom\s+['"](?:node:)?process['"]/g,
      () => 'imports node:process: its env would go unseen',
    ),
  )
}

export const consoleUses = (sources: Sources): Breach[] => inCode(sources, /\bconsole\s*\./g, 'prints to the console')

/** Rooms that leave statements to the store and to reads. */
const withoutStatements = /^src\/(?:run|commit|simulate)\//

export function statementsElsewhere(sources: Sources): Breach[] {
  const rooms = new Map([...sources].filter(([file]) => withoutStatements.test(file) && !file.endsWith('.test.ts')))
  return inCode(rooms, /\bsql`/g, 'holds a statement: it belongs to store or read')
}

export const defaultExports = (sources: Sources): Breach[] =>
  inCode(sources, /\bexport\s+default\b|\bas\s+default\b/g, 'has a default export')

/** Tests that would keep all others from running. */
export const loneTests = (sources: Sources): Breach[] =>
  inCode(sources, /\b(?:test|it|describe|suite)\s*\.\s*only\b|\bonly\s*:\s*true\b/g, 'runs only this test')

/** What is left to do belongs in the list of things to do. */
export function leftovers(sources: Sources): Breach[] {
  // Written apart, so that this file does not find itself.
  const words = ['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].join('|')
  return [...sources].flatMap(([file, text]) =>
    breachesOf(file, text, new RegExp(`\\b(?:${words})\\b`, 'g'), (match) => `has a ${match[0]}`),
  )
}

export function barrels(sources: Sources): Breach[] {
  return [...sources.keys()]
    .filter((file) => /(?:^|\/)index\.[cm]?[tj]s$/.test(file))
    .map((file) => ({ file, line: 1, what: 'is a barrel: import from the file that holds the thing' }))
}

function inCode(
  sources: Sources,
  pattern: RegExp,
  what: string,
  exempt: (path: string) => boolean = () => false,
): Breach[] {
  return [...sources].flatMap(([file, text]) =>
    exempt(file) ? [] : breachesOf(file, blank(text).code, pattern, () => what),
  )
}

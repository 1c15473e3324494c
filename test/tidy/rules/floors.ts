// Floors: a file imports from its own room or from a lower floor; never sideways, never up. domain imports only itself.
import { posix } from 'node:path'
import { blank } from './code-only.ts'
import type { Breach, Sources } from './sources.ts'
import { isUnitTest, lineAt } from './sources.ts'

const floors: Readonly<Record<string, number>> = {
  domain: 1,
  config: 1,
  world: 2,
  db: 3,
  store: 4,
  queue: 4,
  providers: 4,
  steps: 4,
  render: 4,
  commit: 5,
  deliver: 5,
  record: 5,
  accept: 6,
  run: 6,
  manage: 6,
  read: 6,
  realtime: 6,
  simulate: 7,
  http: 8,
  main: 9,
  cli: 9,
}

/** The one step sideways: a command starts what main wires. main never imports cli. */
const sidewaysAllowed = new Set(['cli → main'])

/** The one file that loads what the operator wrote, which has no floor. */
const computedAllowed = new Set(['src/providers/own-providers.ts'])

export interface Import {
  /** Undefined when it is computed, so that no one can say what is imported. */
  readonly specifier: string | undefined
  readonly line: number
}

/** Static, dynamic and type imports, and `export … from`. A string after `from` or `import` is an import: nothing else is written so. */
export function importsOf(text: string): Import[] {
  const { code, withStrings } = blank(text)
  return [...code.matchAll(/\bfrom\s*['"]|\bimport\s*['"]|\bimport\s*\(\s*/g)].map((match) => {
    const after = withStrings.slice(match.index)
    const literal = /^(?:from|import)\s*\(?\s*(['"`])([^'"`$\n]*)\1/.exec(after)
    return { specifier: literal?.[2], line: lineAt(text, match.index) }
  })
}

export function floorBreaches(sources: Sources): Breach[] {
  return [...sources].flatMap(([file, text]) =>
    importsOf(text).flatMap(({ specifier, line }) => {
      const what = breachOf(file, specifier)
      return what === undefined ? [] : [{ file, line, what }]
    }),
  )
}

function breachOf(file: string, specifier: string | undefined): string | undefined {
  const room = roomOf(file)
  const floor = floors[room]
  if (floor === undefined) return `${room} has no floor: give it one in test/tidy/rules/floors.ts`
  if (specifier === undefined) {
    return computedAllowed.has(file) ? undefined : 'imports something computed, so its floor cannot be determined'
  }
  if (specifier.startsWith('node:')) return undefined
  if (!specifier.startsWith('.')) return room === 'domain' ? `domain imports the package ${specifier}` : undefined
  const target = posix.join(posix.dirname(file), specifier)
  // A unit test stands beside its code and may use the fakes every test uses.
  if (isUnitTest(file) && target.startsWith('test/support/')) return undefined
  if (!target.startsWith('src/')) return `imports ${target}, which is outside src`
  const targetRoom = roomOf(target)
  if (targetRoom === room || sidewaysAllowed.has(`${room} → ${targetRoom}`)) return undefined
  const targetFloor = floors[targetRoom]
  if (targetFloor === undefined) return `imports ${targetRoom}, which has no floor`
  if (targetFloor < floor) return undefined
  return `${room} (floor ${floor}) imports ${targetRoom} (floor ${targetFloor})`
}

/** `src/http/routes/x.ts` → http, `src/config.ts` → config. */
function roomOf(path: string): string {
  const [, first = ''] = path.split('/')
  return first.replace(/(\.test)?\.ts$/, '')
}

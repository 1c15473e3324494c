// Who writes a table, and that every statement says which environment it speaks of.
import { blank } from './code-only.ts'
import type { Breach, Sources } from './sources.ts'
import { isUnitTest, lineAt } from './sources.ts'
import type { SqlText, Table } from './statements.ts'
import { declarationText, statementsOf } from './statements.ts'

const writes =
  /\b(?:insert\s+into|delete\s+from(?:\s+only)?|merge\s+into|truncate(?:\s+table)?|update(?=\s+(?:only\s+)?"?\w+"?\s+(?:(?:as\s+)?\w+\s+)?set\b)(?:\s+only)?)\s+(?:public\.)?"?(\w+)/gi

/** migrate.ts keeps its own book, before any other table exists. */
const ownBook = { file: 'src/db/migrate.ts', table: 'schema_migrations' }

/**
 * A table is written in src/store, and in one file of it, or in the files of the folder that is named after it.
 * Limit: it reads statements as text, so a table name spliced in from elsewhere goes unseen. The queue's leases
 * (src/queue/leases.ts) are written so, on whichever table is the queue.
 */
export function writerBreaches(sources: Sources, tables: ReadonlyMap<string, Table>): Breach[] {
  const writers = new Map<string, string>()
  const breaches: Breach[] = []
  for (const [file, text] of sources) {
    if (isUnitTest(file)) continue
    for (const match of blank(text).withStrings.matchAll(writes)) {
      const table = (match[1] ?? '').toLowerCase()
      if (file === ownBook.file && table === ownBook.table) continue
      if (!tables.has(table)) continue
      const line = lineAt(text, match.index)
      const place = placeOf(file, table)
      const writer = writers.get(table) ?? place
      if (!file.startsWith('src/store/')) breaches.push({ file, line, what: `writes ${table}: only src/store writes` })
      else if (writer !== place) breaches.push({ file, line, what: `writes ${table}, which ${writer} writes` })
      else writers.set(table, place)
    }
  }
  return breaches
}

/** The file, or the folder of src/store that is named after the table. Other folders only sort files by subject. */
function placeOf(file: string, table: string): string {
  const folder = `src/store/${table}/`
  return file.startsWith(folder) ? folder : file
}

export interface Exemption {
  readonly file: string
  readonly within: string
  readonly reason: string
}

/**
 * A statement on a table of an environment names environment_id, and is handed an environment (or, as an insert, the
 * rows' own). Where conditions are spliced in after `where` or `from`, they are looked for in the same declaration.
 */
export function environmentBreaches(
  sources: Sources,
  tables: ReadonlyMap<string, Table>,
  exemptions: readonly Exemption[],
): Breach[] {
  return [...sources].flatMap(([file, text]) => {
    if (isUnitTest(file)) return []
    return statementsOf(file, text).flatMap((statement) => {
      const table = tableTouched(statement, tables)
      const exempt = exemptions.some((one) => one.file === file && one.within === statement.within)
      if (table === undefined || exempt || saysEnvironment(statement, text)) return []
      return [{ file, line: statement.line, what: `${statement.within} touches ${table} without its environment` }]
    })
  })
}

/** Exemptions that exempt nothing: the code has moved on, and the list must follow. */
export function staleExemptions(
  sources: Sources,
  tables: ReadonlyMap<string, Table>,
  exemptions: readonly Exemption[],
): Exemption[] {
  const needed = environmentBreaches(sources, tables, [])
  return exemptions.filter(
    ({ file, within }) => !needed.some((breach) => breach.file === file && breach.what.startsWith(`${within} `)),
  )
}

function tableTouched(statement: SqlText, tables: ReadonlyMap<string, Table>): string | undefined {
  const named = statement.text.matchAll(
    /\b(?:from|join|into|update|using|only|table)\s+(?:only\s+)?(?:public\.)?"?(\w+)"?|,\s*(\w+)/gi,
  )
  return [...named].map((match) => match[1] ?? match[2] ?? '').find((name) => tables.get(name)?.hasEnvironment === true)
}

function saysEnvironment({ text, within }: SqlText, fileText: string): boolean {
  if (fits(text)) return true
  const isPiece = !/\b(?:select|insert|update|delete|merge)\b/i.test(text)
  const isSpliced = /\b(?:where|from|and)\s*\$\{/i.test(text)
  return (isPiece || isSpliced) && fits(declarationText(fileText, within))
}

function fits(text: string): boolean {
  if (!/\benvironment_id\b/i.test(text)) return false
  return /\$\{[^}]*environment/i.test(text) || /\binsert\s+into\s+\w+[^(]*\(\s*environment_id\b/i.test(text)
}

// The SQL of the code: the tables the migrations make, and every statement written with the `sql` tag.
import { blank } from './code-only.ts'
import type { Sources } from './sources.ts'
import { lineAt } from './sources.ts'

export interface Table {
  readonly name: string
  readonly hasEnvironment: boolean
}

export interface SqlText {
  readonly file: string
  readonly line: number
  /** The top-level function or constant it stands in. */
  readonly within: string
  /** Template text and what stands in its holes, nested statements included. */
  readonly text: string
}

/** Limit: it knows `create table` and `add column` as the migrations write them, one statement to a semicolon. */
export function tablesOf(migrations: Sources): Map<string, Table> {
  const tables = new Map<string, Table>()
  for (const text of migrations.values()) {
    const statements = text.replaceAll(/--.*$/gm, '').split(';')
    for (const statement of statements) {
      const made = /create\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?(\w+)/i.exec(statement)?.[1]
      const changed = /alter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?(\w+)/i.exec(statement)?.[1]
      const name = made ?? changed
      if (name === undefined) continue
      const partOf = /\bpartition\s+of\s+(\w+)/i.exec(statement)?.[1] ?? ''
      const hasEnvironment =
        /\benvironment_id\s+uuid\b/i.test(statement) ||
        tables.get(name)?.hasEnvironment === true ||
        tables.get(partOf)?.hasEnvironment === true
      tables.set(name, { name, hasEnvironment })
    }
  }
  return tables
}

/** The outermost `sql` templates; a nested one belongs to the statement it is spliced into. */
export function statementsOf(file: string, text: string): SqlText[] {
  const { code, withStrings } = blank(text)
  const found: SqlText[] = []
  const opener = /\bsql`/g
  for (let match = opener.exec(code); match !== null; match = opener.exec(code)) {
    const end = endOfTemplate(code, match.index + match[0].length)
    found.push({
      file,
      line: lineAt(code, match.index),
      within: declarationAround(code, match.index),
      text: withStrings.slice(match.index + match[0].length, end),
    })
    opener.lastIndex = end
  }
  return found
}

/** In code alone, template text is blank: a backtick met outside any nested template closes ours. */
function endOfTemplate(code: string, start: number): number {
  // A stack of what is open: a template, or a brace inside a hole of one.
  const open: string[] = ['`']
  for (let at = start; at < code.length; at += 1) {
    const one = code[at]
    const inside = open.at(-1)
    if (one === '`' && inside === '`') open.pop()
    else if (one === '`' || (one === '{' && inside !== undefined)) open.push(one)
    else if (one === '}' && inside === '{') open.pop()
    if (open.length === 0) return at
  }
  return code.length
}

export function declarationAround(code: string, offset: number): string {
  const declarations = code
    .slice(0, offset)
    .matchAll(/^(?:export )?(?:async )?(?:function\*? |const |let |class )(\w+)/gm)
  return [...declarations].at(-1)?.[1] ?? ''
}

/** The text of the whole top-level declaration around a line. */
export function declarationText(text: string, name: string): string {
  const starts = [
    ...text.matchAll(/^(?:export )?(?:async )?(?:function\*? |const |let |class |interface |type )(\w+)/gm),
  ]
  const index = starts.findIndex((start) => start[1] === name)
  return text.slice(starts[index]?.index ?? 0, starts[index + 1]?.index ?? text.length)
}

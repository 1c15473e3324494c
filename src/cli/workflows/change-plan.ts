// What a command is going to change: shown first, and done only after a yes.
import { textDiff } from '../../domain/workflows/text-diff.ts'
import { withoutNumbers } from '../../manage/workflows/hidden-values.ts'
import type { Terminal } from '../command.ts'
import { UsageError } from '../command.ts'
import { visible } from '../terminal/visible-text.ts'

export interface PlannedChange {
  /** `workflow order-shipped`. */
  readonly what: string
  readonly kind: 'create' | 'change' | 'delete'
  /** Safe for a terminal, like `what`: the author of the texts must not control what is displayed. */
  readonly diff: readonly string[]
  apply(): Promise<void>
}

/** Undefined when nothing differs. */
export function plannedChange(
  what: string,
  before: string,
  after: string,
  apply: () => Promise<void>,
): PlannedChange | undefined {
  const diff = textDiff(before, after)
  if (diff.length === 0) return undefined
  const kind = before === '' ? 'create' : after === '' ? 'delete' : 'change'
  return { what: visible(what), kind, diff: diff.map((line) => visible(withoutNumbers(line))), apply }
}

export function printPlan({ print }: Terminal, changes: readonly PlannedChange[]): void {
  for (const { what, kind, diff } of changes) {
    print(`${kind} ${what}`)
    for (const line of diff) print(`  ${line}`)
    print('')
  }
  const count = (kind: PlannedChange['kind']): number => changes.filter((change) => change.kind === kind).length
  print(`${count('create')} to create, ${count('change')} to change, ${count('delete')} to delete.`)
}

/** Nothing is changed before the user has confirmed, now or in advance. Returns whether something was changed. */
export async function applyPlan(
  terminal: Terminal,
  changes: readonly PlannedChange[],
  { isConfirmed }: { isConfirmed: boolean },
): Promise<boolean> {
  printPlan(terminal, changes)
  if (changes.length === 0) return false
  if (!isConfirmed && !(await confirmed(terminal))) {
    terminal.print('Nothing was changed.')
    return false
  }
  for (const change of changes) {
    await change.apply()
    terminal.print(`${change.kind}d ${change.what}`)
  }
  return true
}

async function confirmed(terminal: Terminal): Promise<boolean> {
  if (terminal.ask === undefined) {
    throw new UsageError(
      'Nothing was changed: there is no terminal to ask for confirmation. Use --yes to apply the changes without asking.',
    )
  }
  return /^y(es)?$/i.test((await terminal.ask('Apply these changes? [y/N] ')).trim())
}

// What a command is going to change: shown first, and done only after a yes.
import { textDiff } from '../../domain/workflows/text-diff.ts'
import { withoutNumbers } from '../../manage/workflows/text/hidden-values.ts'
import type { Terminal } from '../command.ts'
import { confirmed } from '../terminal/confirm.ts'
import { visible } from '../terminal/visible-text.ts'

export interface PlannedChange {
  /** `workflow order-shipped`. */
  readonly what: string
  readonly kind: 'create' | 'change' | 'delete'
  /** Safe for a terminal, like `what`: the author of the texts must not control what is displayed. */
  readonly diff: readonly string[]
}

/** Undefined when nothing differs. */
export function plannedChange(what: string, before: string, after: string): PlannedChange | undefined {
  const diff = textDiff(before, after)
  if (diff.length === 0) return undefined
  const kind = before === '' ? 'create' : after === '' ? 'delete' : 'change'
  return { what: visible(what), kind, diff: diff.map((line) => visible(withoutNumbers(line))) }
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
  { isConfirmed, apply }: { isConfirmed: boolean; apply: () => Promise<void> },
): Promise<boolean> {
  printPlan(terminal, changes)
  if (changes.length === 0) return false
  if (!(await confirmed(terminal, 'Apply these changes?', isConfirmed, 'Nothing was changed'))) {
    terminal.print('Nothing was changed.')
    return false
  }
  await apply()
  for (const { kind, what } of changes) terminal.print(`${kind}d ${what}`)
  return true
}

// What a command is going to change: shown first, and done only after a yes.
import { textDiff } from '../../domain/workflows/text-diff.ts'
import { withoutNumbers } from '../../render/workflow-text/hidden-values.ts'
import type { Terminal } from '../command.ts'
import { confirmed } from '../terminal/confirm.ts'
import { visible, visibleJson } from '../terminal/visible-text.ts'

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

export interface Plan {
  readonly changes: readonly PlannedChange[]
  /** What the service says about it, in sentences. */
  readonly notes: readonly string[]
}

/** With `json` the plan is printed at the end, as one document; until then it goes to whoever is asked. */
export function showPlan(terminal: Terminal, { changes, notes }: Plan, json: boolean): void {
  for (const line of notes) terminal.note(visible(`Note: ${line}`))
  const show = json ? terminal.note : terminal.print
  for (const { what, kind, diff } of changes) {
    show(`${kind} ${what}`)
    for (const line of diff) show(`  ${line}`)
    show('')
  }
  const count = (kind: PlannedChange['kind']): number => changes.filter((change) => change.kind === kind).length
  show(`${count('create')} to create, ${count('change')} to change, ${count('delete')} to delete.`)
}

export const printJson = ({ print }: Terminal, { changes, notes }: Plan, applied: boolean): void =>
  print(visibleJson({ applied, changes, notes }))

interface Applying {
  readonly isConfirmed: boolean
  readonly json: boolean
  apply(): Promise<void>
}

/** Nothing is changed before the user has confirmed, now or in advance. Returns whether something was changed. */
export async function applyPlan(
  terminal: Terminal,
  plan: Plan,
  { isConfirmed, json, apply }: Applying,
): Promise<boolean> {
  const { changes } = plan
  if (!json || !isConfirmed) showPlan(terminal, plan, json)
  const isWanted =
    changes.length > 0 && (await confirmed(terminal, 'Apply these changes?', isConfirmed, 'Nothing was changed'))
  if (isWanted) await apply()
  if (json) printJson(terminal, plan, isWanted)
  else if (isWanted) for (const { kind, what } of changes) terminal.print(`${kind}d ${what}`)
  else if (changes.length > 0) terminal.print('Nothing was changed.')
  return isWanted
}

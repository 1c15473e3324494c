// Asking before something is done that cannot be undone.
import type { Terminal } from '../command.ts'
import { UsageError } from '../command.ts'

/** Whether the user confirmed, now or in advance. Without a terminal, only in advance. */
export async function confirmed(
  terminal: Terminal,
  question: string,
  isConfirmed: boolean,
  nothing = 'Nothing was done',
): Promise<boolean> {
  if (isConfirmed) return true
  if (terminal.ask === undefined) {
    throw new UsageError(`${nothing}: there is no terminal to ask for confirmation. Use --yes to skip the question.`)
  }
  return /^y(es)?$/i.test((await terminal.ask(`${question} [y/N] `)).trim())
}

// Asking before something is done that cannot be undone.
import type { Terminal } from '../command.ts'
import { UsageError } from '../command.ts'

/** Whether somebody said yes, now or in advance. Where nobody can be asked, only in advance. */
export async function confirmed(terminal: Terminal, question: string, isConfirmed: boolean): Promise<boolean> {
  if (isConfirmed) return true
  if (terminal.ask === undefined) {
    throw new UsageError('Nothing was done: there is no terminal to ask on. --yes does it without asking.')
  }
  return /^y(es)?$/i.test((await terminal.ask(`${question} [y/N] `)).trim())
}

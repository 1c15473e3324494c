// What a command of the posthorn program is.
import type { Config } from '../config.ts'
import type { Log } from '../world/log.ts'

export interface Terminal {
  readonly config: Config
  readonly log: Log
  print(line: string): void
  /** Asks somebody at a terminal; absent where nobody is there. */
  readonly ask?: (question: string) => Promise<string>
}

export interface Command {
  readonly name: string
  /** One line for each way to call it. */
  readonly usage: readonly string[]
  run(terminal: Terminal, args: readonly string[]): Promise<void>
}

/** The command was called in a way it does not know. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** For a command that takes none: a mistyped option must not be passed over. */
export function refuseArguments(command: string, args: readonly string[]): void {
  if (args.length > 0) throw new UsageError(`posthorn ${command} takes no arguments, not "${args.join(' ')}"`)
}

// What a command of the posthorn program is.
import type { Config } from '../config.ts'
import type { Orders } from '../main/child-messages.ts'
import type { Log } from '../world/log.ts'

export interface Terminal {
  readonly config: Config
  /** What is wrong with the settings, and which of them are unknown. */
  readonly settings: { readonly mistakes: readonly string[]; readonly warnings: readonly string[] }
  readonly log: Log
  /** The width of the terminal; undefined if the output does not go to a terminal. */
  readonly width: number | undefined
  print(line: string): void
  /** The bytes themselves, for a file or another program. */
  write(bytes: Uint8Array): void
  /** In addition to the output: progress, and hints for a person at the terminal. */
  note(line: string): void
  /** All of standard input, up to this many bytes. */
  readInput(bytesMax: number): Promise<string>
  /**
   * Aborts when the command has to stop, or its output is no longer read. Once it is used, Ctrl-C no longer ends the
   * process.
   */
  untilStopped(): AbortSignal
  /** Waits, or until the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>
  /** If this process is one of several: what its parent started it with. */
  readonly orders?: Orders | undefined
  /** Asks the person at the terminal; absent if there is none. */
  readonly ask?: (question: string) => Promise<string>
  /** The same, for what must not be seen on the screen. */
  readonly askSecret?: (question: string) => Promise<string>
}

export interface Command {
  readonly name: string
  /** What it does, in a sentence or two. */
  readonly about: string
  /** Calls to copy, each with what it is for: `posthorn keys create   # a key that may do everything`. */
  readonly examples: readonly string[]
  /** One line per usage. */
  readonly usage: readonly string[]
  /** Whether it also runs when the settings have mistakes; those are at their defaults then. */
  readonly runsWithMistakes?: true
  run(terminal: Terminal, args: readonly string[]): Promise<void>
}

/** The command was called in a way it does not know. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** The command was called well and could not do it; the message says why. */
export class CommandFailed extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CommandFailed'
  }
}

/** For a command without arguments: a mistyped option must not be ignored. */
export function refuseArguments(command: string, args: readonly string[]): void {
  if (args.length > 0) throw new UsageError(`posthorn ${command} takes no arguments, not "${args.join(' ')}"`)
}

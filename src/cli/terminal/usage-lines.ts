// What the usage lines of a command say: its actions, and the options that each of them takes.
import type { Command } from '../command.ts'
import { UsageError } from '../command.ts'

interface UsageLine {
  /** `show|stop` is two; none for a command that has no actions. */
  readonly actions: readonly string[]
  /** Whether the action may be left out. */
  readonly isDefault: boolean
  /** `--limit`. */
  readonly options: readonly string[]
}

/** What SERVICE stands for. */
const serviceOptions = ['--json', '--url', '--key', '--key-file', '--profile', '--environment']

export function usageLinesOf({ usage }: Pick<Command, 'usage'>): UsageLine[] {
  return usage.map((line) => {
    const [, word = ''] = line.split(' ')
    const [, actions] = /^\[?([a-z][a-z|-]*)\]?$/.exec(word) ?? []
    const own = line.match(/--[a-z][a-z-]*/g) ?? []
    return {
      actions: actions?.split('|') ?? [],
      isDefault: actions === undefined || word.startsWith('['),
      options: line.includes('[SERVICE]') ? [...own, ...serviceOptions] : own,
    }
  })
}

/** An option that another action has must not be ignored. `first` is the first argument that is no option. */
export function refuseForeign(command: Command, args: readonly string[], first: string | undefined): void {
  const lines = usageLinesOf(command)
  const named = lines.filter(({ actions }) => first !== undefined && actions.includes(first))
  const own = named.length > 0 ? named : lines.filter(({ isDefault }) => isDefault)
  // Not called in any way that there is: the command says so.
  if (own.length === 0) return
  const accepted = new Set(own.flatMap(({ options }) => options))
  const end = args.indexOf('--')
  const given = (end === -1 ? args : args.slice(0, end)).filter((argument) => /^--[a-z]/.test(argument))
  const foreign = given.map((argument) => argument.split('=')[0] ?? '').find((option) => !accepted.has(option))
  if (foreign === undefined) return
  throw new UsageError(`posthorn ${command.name}${named.length > 0 ? ` ${first}` : ''} does not accept ${foreign}`)
}

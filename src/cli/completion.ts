// posthorn completion: a script that makes a shell complete commands, actions and options.
import type { Command } from './command.ts'
import { oneOf, parsed, wrongCall } from './terminal/arguments.ts'
import { usageLinesOf } from './terminal/usage-lines.ts'

const shells = ['bash', 'zsh', 'fish'] as const

export function completionFor(others: () => readonly Command[]): Command {
  const completion: Command = {
    name: 'completion',
    about: 'Prints a script that makes your shell complete commands, their actions and their options.',
    examples: [
      'source <(posthorn completion bash)                                        # in ~/.bashrc',
      'source <(posthorn completion zsh)                                         # in ~/.zshrc, after compinit',
      'posthorn completion fish > ~/.config/fish/completions/posthorn.fish',
    ],
    usage: ['completion bash|zsh|fish'],
    run: async ({ print }, args) => {
      const { positionals } = parsed({ args: [...args], allowPositionals: true, options: {} })
      const shell = oneOf('The shell', positionals[0], shells)
      if (shell === undefined || positionals.length > 1) throw wrongCall(completion)
      print(scripts[shell](others().map(wordsOf)))
    },
  }
  return completion
}

interface Words {
  readonly name: string
  readonly about: string
  readonly actions: readonly string[]
  readonly options: readonly string[]
}

/** From the usage lines, so that a new option is completed as soon as it is documented. */
function wordsOf(command: Command): Words {
  const { name, about } = command
  const lines = usageLinesOf(command)
  return {
    name,
    about: (about.split(/(?<=[.:]) /)[0] ?? about).replace(/[.:]$/, ''),
    actions: [...new Set(lines.flatMap(({ actions }) => actions))],
    options: [...new Set([...lines.flatMap(({ options }) => options), '--help'])],
  }
}

const bash = (commands: readonly Words[]): string => `_posthorn() {
  local word="\${COMP_WORDS[COMP_CWORD]}" command="\${COMP_WORDS[1]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${commands.map(({ name }) => name).join(' ')} help"
  else
    case "$command" in
${commands.map(({ name, actions, options }) => `      ${name}) words="${[...actions, ...options].join(' ')}" ;;`).join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _posthorn posthorn`

const zsh = (commands: readonly Words[]): string => `#compdef posthorn
_posthorn() {
  if (( CURRENT == 2 )); then
    local -a commands=(
${commands.map(({ name, about }) => `      ${quoted(`${name}:${about}`)}`).join('\n')}
    )
    _describe command commands
    return
  fi
  case "$words[2]" in
${commands.map(({ name, actions, options }) => `    ${name}) compadd -- ${[...actions, ...options].join(' ')} ;;`).join('\n')}
  esac
  _files
}
compdef _posthorn posthorn`

const fish = (commands: readonly Words[]): string =>
  commands
    .flatMap(({ name, about, actions, options }) => [
      `complete -c posthorn -n __fish_use_subcommand -f -a ${name} -d ${quoted(about)}`,
      ...actions.map((action) => `complete -c posthorn -n '__fish_seen_subcommand_from ${name}' -a ${action}`),
      ...options.map((option) => `complete -c posthorn -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}`),
    ])
    .join('\n')

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const scripts = { bash, zsh, fish }

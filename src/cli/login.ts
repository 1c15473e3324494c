// posthorn login and logout: remember a service and its API key for later commands, and forget them.

import type { ApiClient, ServiceValues } from './api-client.ts'
import { createClient, keyIn, serviceFor, serviceUrl } from './api-client.ts'
import type { Command, Terminal } from './command.ts'
import { CommandFailed, UsageError } from './command.ts'
import { profileFileOf, readProfiles, removeProfiles, saveProfile } from './profiles.ts'
import { readOptions, wrongCall } from './terminal/arguments.ts'
import { tableLines } from './terminal/table.ts'
import { visible, visibleJson } from './terminal/visible-text.ts'
import { warningNotes } from './terminal/warnings.ts'

/** A key, and the sentence that `posthorn keys create` prints below it. */
const inputBytesMax = 4 * 1024

export const loginCommand: Command = {
  name: 'login',
  about:
    'Remembers a service and an API key for later commands, in a file that only you can read (POSTHORN_PROFILES). ' +
    'The key is asked for, or read from standard input. The newest login is used unless --profile or --environment names another.',
  examples: [
    'posthorn login --url https://posthorn.example.com    # asks for the key',
    'posthorn keys create | posthorn login                # on the machine of the service',
    'posthorn login --profile live --key-file live.key',
    'posthorn login --list',
  ],
  usage: [
    'login [--url URL] [--profile NAME] [--environment NAME] [--key-file FILE | --key KEY] [--json]',
    'login --list [--json]',
  ],
  run: async (terminal, args) => {
    const { values, positionals } = readOptions(loginCommand, args, { list: { type: 'boolean', default: false } })
    if (positionals.length > 0) throw wrongCall(loginCommand)
    if (values.list) return list(terminal, values.json)
    const url = serviceUrl(terminal, values)
    const isGiven = values.key !== undefined || values['key-file'] !== undefined
    const key = isGiven ? (await serviceFor(terminal, values)).key : await typedKey(terminal, url)
    const environment = await environmentOf(createClient(url, key, warningNotes(terminal)), values)
    const name = values.profile ?? environment
    await saveProfile(terminal.config, { name, url, key: key ?? '', environment })
    const words = `Commands now use ${environment} at ${url} (profile ${name}, in ${profileFileOf(terminal.config)}).`
    terminal.print(values.json ? visibleJson({ name, environment, url }) : visible(words))
  },
}

async function typedKey({ askSecret, readInput }: Terminal, url: string): Promise<string> {
  const typed = askSecret === undefined ? await readInput(inputBytesMax) : await askSecret(`API key for ${url}: `)
  const [first = ''] = typed.trim().split('\n')
  if (first === '') throw new UsageError('No API key was given: type it, pipe it in, or use --key-file')
  return keyIn('The key', first)
}

/** A key that opens nothing is not remembered. */
async function environmentOf(client: ApiClient, { environment }: ServiceValues): Promise<string> {
  const { body } = await client.call<{ name: string }>('GET', '/v1/environments/me?secrets=false')
  if (environment === undefined || environment === body.name) return body.name
  throw new CommandFailed(`The API key opens ${body.name}, not ${environment}. Nothing was remembered.`)
}

async function list({ config, print, width }: Terminal, json: boolean): Promise<void> {
  const profiles = (await readProfiles(config)).map(({ name, environment, url }) => ({ name, environment, url }))
  if (json) return print(visibleJson(profiles))
  if (profiles.length === 0) return print('No logins. `posthorn login` makes one.')
  const rows = profiles.map(({ name, environment, url }) => [name, environment, url])
  for (const line of tableLines(['PROFILE', 'ENVIRONMENT', 'URL'], rows, { width })) print(line)
}

export const logoutCommand: Command = {
  name: 'logout',
  about: 'Forgets a login, or with --all every login. The API keys stay valid: `posthorn keys revoke` ends one.',
  examples: ['posthorn logout --profile live', 'posthorn logout --all'],
  usage: ['logout --profile NAME', 'logout --all'],
  run: async ({ config, print }, args) => {
    const { values, positionals } = readOptions(logoutCommand, args, { all: { type: 'boolean', default: false } })
    const { profile, all } = values
    if (positionals.length > 0 || (profile === undefined) === !all) throw wrongCall(logoutCommand)
    const removed = await removeProfiles(config, ({ name }) => all || name === profile)
    if (removed.length === 0 && profile !== undefined) throw new CommandFailed(`There is no login named ${profile}.`)
    print(
      removed.length === 0 ? 'There was no login.' : visible(`Forgot ${removed.map(({ name }) => name).join(', ')}.`),
    )
  },
}

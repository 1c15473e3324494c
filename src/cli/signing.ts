// posthorn signing: shows and rotates what calls to customers' own services are signed with.

import type { Environment } from '../domain/environment.ts'
import { callKeyOf, overlapDays, signsUntil } from '../domain/operate/signing-keys.ts'
import type { Store } from '../main/store.ts'
import { rotateSigning } from '../manage/operate/signing.ts'
import { findSigningKeys } from '../store/operate/signing-versions.ts'
import { commandAuthor } from './author.ts'
import type { Command, Terminal } from './command.ts'
import { UsageError } from './command.ts'
import { parsed } from './terminal/arguments.ts'
import { environmentNamed, withStore } from './with-store.ts'

export const signingCommand: Command = {
  name: 'signing',
  usage: ['signing rotate [--environment Development]', 'signing list [--environment Development]'],
  run: async (terminal, args) => {
    const { values, positionals } = readArguments(args)
    const [action] = positionals
    if (action !== 'rotate' && action !== 'list') {
      throw new UsageError(`Usage:\n${signingCommand.usage.map((line) => `  posthorn ${line}`).join('\n')}`)
    }
    await withStore(terminal, async (store) => {
      const environment = await environmentNamed(store, values.environment)
      await (action === 'rotate' ? rotate : list)(terminal, store, environment)
    })
  },
}

function readArguments(args: readonly string[]) {
  const options = { environment: { type: 'string', default: 'Development' } } as const
  return parsed({ args: [...args], allowPositionals: true, options })
}

async function rotate({ print }: Terminal, { db, world }: Store, environment: Environment): Promise<void> {
  const made = await rotateSigning(db, world, environment, commandAuthor())
  print(callKeyOf(made).text)
  print(
    `Requests from ${environment.name} are now signed with it (version ${made.version}) according to Standard Webhooks, and for ${overlapDays} days with the previous secret as well. Links and addresses in e-mails that were already sent remain valid.`,
  )
}

/** Without the secrets: full keys see them at /v1/environments/me. */
async function list({ print }: Terminal, { db, world }: Store, environment: Environment): Promise<void> {
  const { versions = [] } = (await findSigningKeys(db, world.sealer, environment)) ?? {}
  for (const [index, { version, createdAt }] of versions.entries()) {
    const until = signsUntil(versions[index + 1])
    const state =
      until === undefined ? 'signs' : `${until > world.now() ? 'signs until' : 'signed until'} ${until.toISOString()}`
    print(`${version}  ${createdAt.toISOString()}  ${state}`)
  }
}

// posthorn signing: shows and rotates what calls to customers' own services are signed with.
import { overlapDays } from '../domain/operate/signing-keys.ts'
import { clientFor } from './api-client.ts'
import type { Command } from './command.ts'
import { readOptions, serviceUsage, wrongCall } from './terminal/arguments.ts'
import { visible, visibleJson } from './terminal/visible-text.ts'

interface Own {
  readonly name: string
  readonly signingSecrets?: readonly {
    readonly version: number
    readonly createdAt: string
    readonly signsUntil?: string
  }[]
}

export const signingCommand: Command = {
  name: 'signing',
  about:
    'Shows and rotates the secret that requests to your own services are signed with. Needs a key with the scope full.',
  examples: ['posthorn signing list', 'posthorn signing rotate --environment Production'],
  usage: [`signing rotate ${serviceUsage}`, `signing list ${serviceUsage}`],
  run: async (terminal, args) => {
    const { values, positionals } = readOptions(signingCommand, args, {})
    const [action, ...more] = positionals
    if ((action !== 'rotate' && action !== 'list') || more.length > 0) throw wrongCall(signingCommand)
    const { print } = terminal
    const client = await clientFor(terminal, values)
    if (action === 'rotate') {
      const path = '/v1/environments/me/signing-secrets'
      const { body } = await client.call<{ version: number; secret: string; environment: string }>('POST', path)
      if (values.json) return print(visibleJson(body))
      print(body.secret)
      return print(
        `Requests from ${visible(body.environment)} are now signed with it (version ${body.version}) according to Standard Webhooks, and for ${overlapDays} days with the previous secret as well. Links and addresses in e-mails that were already sent remain valid.`,
      )
    }
    const { body } = await client.call<Own>('GET', '/v1/environments/me')
    // Without the secrets: they are for programs that ask for them.
    const versions = [...(body.signingSecrets ?? [])].reverse().map(({ version, createdAt, signsUntil }) => ({
      version,
      createdAt,
      ...(signsUntil === undefined ? {} : { signsUntil }),
    }))
    if (values.json) return print(visibleJson(versions))
    for (const { version, createdAt, signsUntil } of versions) {
      const isOver = signsUntil !== undefined && Date.parse(signsUntil) <= Date.now()
      const state = signsUntil === undefined ? 'signs' : `${isOver ? 'signed' : 'signs'} until ${signsUntil}`
      print(`${version}  ${createdAt}  ${state}`)
    }
  },
}

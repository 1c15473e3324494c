// The methods of the public client @novu/api, read from its code, and those that this service does not serve, with the reason.
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

export interface ClientMethod {
  /** As the client calls it, such as `subscribers.notifications.list`. */
  readonly name: string
  readonly verb: string
  readonly path: string
}

const folder = pathToFileURL(createRequire(import.meta.url).resolve('@novu/api/package.json'))

export const clientVersion: string = (
  JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as { version: string }
).version

/** Every method sends one request; its file says which. */
export function clientMethods(): ClientMethod[] {
  const sources = fileURLToPath(new URL('src/sdk/', folder))
  const functions = new Map(
    readdirSync(new URL('src/funcs/', folder)).map((file) => {
      const text = readFileSync(new URL(`src/funcs/${file}`, folder), 'utf8')
      const path = /pathToFunc\(\s*"([^"]+)"/.exec(text)?.[1] ?? ''
      const verb = /method: "(\w+)"/.exec(text)?.[1] ?? ''
      return [file.replace('.ts', ''), { verb, path }]
    }),
  )
  return readdirSync(sources)
    .flatMap((file) => methodsIn(readFileSync(`${sources}${file}`, 'utf8'), functions))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** A class calls one function per method; the function is named after both. */
function methodsIn(text: string, functions: ReadonlyMap<string, { verb: string; path: string }>): ClientMethod[] {
  const parts = text.matchAll(/^ {2}async (\w+)\([\s\S]*?unwrapAsync\(\s*(\w+)\(/gm)
  return [...parts].map(([, method = '', called = '']) => {
    const request = functions.get(called)
    if (request === undefined) throw new Error(`${called} of @novu/api is not known`)
    return { name: dotted(called, method), ...request }
  })
}

const groups = ['autoConfigure', 'channelConnections', 'channelEndpoints', 'environmentVariables']

/** `subscribersNotificationsList` and `list`: `subscribers.notifications.list`. */
function dotted(called: string, method: string): string {
  if (called === method) return method
  const owner = called.slice(0, called.length - method.length)
  const words = groups.reduce(
    (rest, group) => rest.replace(new RegExp(group, 'i'), (found) => found[0] + found.slice(1).toLowerCase()),
    owner,
  )
  const names = words.split(/(?=[A-Z])/).map((word) => {
    const name = word[0]?.toLowerCase() + word.slice(1)
    return groups.find((group) => group.toLowerCase() === name.toLowerCase()) ?? name
  })
  return [...names, method].join('.')
}

const promote = 'A key opens one environment; `posthorn promote` takes workflows from one to another.'
const chatAccounts =
  'Chat accounts are linked by your own OAuth flow; store the address with `subscribers.credentials.update`.'
const files = 'Files are not read; send the same content as JSON with'

/** Methods that are not served, by how their names begin. */
const excepted: readonly (readonly [prefix: string, reason: string])[] = [
  ['agents.', 'Agents are a part of the hosted product.'],
  ['domains.', 'Domains for inbound e-mail are a part of the hosted product; see `parse` in the guides of providers.'],
  ['channelConnections.', chatAccounts],
  ['channelEndpoints.', chatAccounts],
  ['integrations.generate', chatAccounts],
  ['integrations.linkChannelEndpoint', chatAccounts],
  ['integrations.createMobileLink', chatAccounts],
  ['integrations.integrationsController', 'Set up the account at the provider; docs/providers.md says how.'],
  ['activity.track', 'Providers call `/v1/webhooks/…`, whose addresses `integrations.list` shows.'],
  ['environments.diff', promote],
  ['environments.publish', promote],
  ['workflows.sync', promote],
  ['translations.upload', `${files} \`translations.create\`.`],
  ['translations.master.upload', `${files} \`translations.master.import\`.`],
]

/** Why a method is not served; undefined if it is. */
export const exceptionOf = (name: string): string | undefined =>
  excepted.find(([prefix]) => name.startsWith(prefix))?.[1]

/** Prefixes that no method has. */
export const staleExceptions = (methods: readonly ClientMethod[]): string[] =>
  excepted.map(([prefix]) => prefix).filter((prefix) => !methods.some(({ name }) => name.startsWith(prefix)))

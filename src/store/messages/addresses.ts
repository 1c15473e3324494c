// The addresses of chat and push messages, sealed: whoever reads the table finds no device tokens and no webhooks.
import type { Channel } from '../../domain/delivery/integration.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Envelope } from '../../domain/messages/message.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import type { NewMessage } from './insert.ts'

/** As much of a message as is sealed. */
interface Addresses {
  readonly directWebhookUrl?: string | undefined
  readonly deviceTokens?: readonly string[] | undefined
  readonly envelope: Readonly<Record<string, unknown>>
}

/** Members of an envelope that name an address, or may. */
const sealedNames: ReadonlySet<string> = new Set([
  'target',
  'webhookUrl',
  'channel',
  'entry',
  'customData',
  'passthrough',
  'forProviders',
])

const purpose = 'message-addresses'

/** E-mail and SMS name addresses that are no secrets; in-app messages go nowhere. */
const hasSecretAddress = (channel: Channel): boolean => channel === 'chat' || channel === 'push'

/** What is written for it. In plain text, if the installation has nodes that could not open it. */
export function withSealedAddresses(sealer: Sealer, environment: Environment, message: NewMessage): NewMessage {
  const { draft, id } = message
  if (!hasSecretAddress(draft.channel) || sealer.form() === 1) return message
  const { directWebhookUrl, deviceTokens, envelope, ...open } = draft
  const members = Object.entries(envelope ?? {})
  const secret = Object.fromEntries(members.filter(([name]) => sealedNames.has(name)))
  const rest = Object.fromEntries(members.filter(([name]) => !sealedNames.has(name))) as unknown as Envelope
  const plain: Addresses = { directWebhookUrl, deviceTokens, envelope: secret }
  const address = addressIn(secret)
  return {
    ...message,
    draft: envelope === undefined ? open : { ...open, envelope: rest },
    addresses: sealer.seal(environment.id, purpose, id, JSON.stringify(plain)),
    addressDigest: address === undefined ? null : sealer.digest(environment.id, address),
  }
}

/** The one that it is shown by. */
export function addressIn({ target, webhookUrl, channel }: Addresses['envelope']): string | undefined {
  return [target, webhookUrl, channel].find((one) => typeof one === 'string')
}

export interface SealedRow {
  readonly id: string
  readonly addresses: Buffer | null
}

/** Undefined where the row holds them in clear. */
export function openAddresses(sealer: Sealer, environment: Environment, row: SealedRow): Addresses | undefined {
  if (row.addresses === null) return undefined
  return JSON.parse(sealer.open(environment.id, purpose, row.id, row.addresses)) as Addresses
}

/** What the row is found by, by the key that seals now. */
export function addressDigest(sealer: Sealer, environment: Environment, row: SealedRow): Buffer | null {
  const address = addressIn(openAddresses(sealer, environment, row)?.envelope ?? {})
  return address === undefined ? null : sealer.digest(environment.id, address)
}

/** The row with all its envelope. */
export function withWholeEnvelope<Row extends SealedRow & { readonly envelope: Envelope }>(
  sealer: Sealer,
  environment: Environment,
  row: Row,
): Row {
  const opened = openAddresses(sealer, environment, row)
  return opened === undefined ? row : { ...row, envelope: { ...row.envelope, ...opened.envelope } }
}

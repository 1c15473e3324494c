// Where a chat message goes when the recipient has an address of their own.
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused } from '../../domain/delivery/outcome.ts'
import type { ChatMessage } from '../../domain/messages/outbound-message.ts'
import { ofWebhookUrl } from '../webhook.ts'

/** An empty one counts as missing. */
export function hasAddress(message: ChatMessage): message is ChatMessage & { readonly webhookUrl: string } {
  return message.webhookUrl !== undefined && message.webhookUrl !== ''
}

export interface AddressRule {
  /** As the vendor shows it, for the text of a rejection. */
  readonly example: string
  /** The vendor's own: a name, or `*.name` for every name within it. Omitted: it may be on any server. */
  readonly hosts?: readonly string[]
  readonly path?: RegExp
  /** A secret of the account is sent with it: never unencrypted. */
  readonly httpsOnly?: true
}

/** The address, or why it is not called. It is a secret of its owner, so it is not repeated. */
export function addressOf(message: ChatMessage, rule: AddressRule): URL | Outcome {
  if (!hasAddress(message)) return refused('bad-recipient', 'The subscriber has no webhookUrl')
  const url = URL.canParse(message.webhookUrl) ? new URL(message.webhookUrl) : undefined
  if (url !== undefined && fits(url, rule)) return url
  return refused('bad-recipient', `The webhookUrl must be a URL such as ${rule.example}`)
}

function fits(url: URL, { hosts, path, httpsOnly }: AddressRule): boolean {
  if (ofWebhookUrl(url.href) !== undefined || path?.test(url.pathname) === false) return false
  if (hosts === undefined) return url.protocol === 'https:' || httpsOnly !== true
  return url.protocol === 'https:' && url.port === '' && isAmong(url.hostname, hosts)
}

export function isAmong(hostname: string, hosts: readonly string[]): boolean {
  return hosts.some((host) => (host.startsWith('*.') ? hostname.endsWith(host.slice(1)) : hostname === host))
}

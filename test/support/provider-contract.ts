// The contract of a provider: what one file says of a vendor's wire, and the tests that hold the provider to it.
import type { Credentials } from '../../src/domain/delivery/integration.ts'
import type { OutboundMessage } from '../../src/domain/messages/outbound-message.ts'
import type { InboundCall, InboundMail, Receipt } from '../../src/providers/inbound/receipt.ts'
import type { Provider } from '../../src/providers/provider.ts'
import type { OutboundRequest } from '../../src/world/world.ts'

export interface ContractAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Anything but a text is JSON. */
  readonly body?: unknown
}

/** A request as a provider makes it, with its body as text. */
export interface AskedRequest extends Omit<OutboundRequest, 'body'> {
  readonly body: string
}

/** `sent`, `busy`, `unsure`, `misconfigured`, or `refused: <reason>`. */
export type OutcomeKind = string

export interface ReceiptCase {
  readonly name: string
  /** As the vendor calls; signed, where it signs. Without `key` headers: the tests add those. */
  readonly call: ContractCall
  readonly expected: readonly Omit<Receipt, 'row'>[]
}

export interface ContractCall {
  /** `POST` unless said otherwise. */
  readonly method?: string
  /** Of the address, beginning with `?`. */
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Anything but a text is JSON. */
  readonly body?: unknown
}

export interface ProviderContract {
  readonly provider: Provider
  /** Every required field and the most telling optional ones. Secrets are at least eight characters, and found nowhere else. */
  readonly account: Credentials
  /** What the channel's full sample lacks or has too much of for this vendor. */
  readonly message?: object
  /** Further requests that are kept as golden ones: regions, base addresses, other forms of sending. */
  readonly variants?: readonly { readonly name: string; readonly account?: Credentials; readonly message?: object }[]
  /** Calls that come before the one that sends, such as for a token; undefined for the one that sends. */
  before?(asked: AskedRequest): ContractAnswer | undefined
  readonly success: { readonly answer: ContractAnswer; readonly id: string }
  /** Further answers that are successes, with their ids. */
  readonly successes?: readonly (readonly [name: string, answer: ContractAnswer, id: string])[]
  /** Every documented failure. */
  readonly errors: readonly (readonly [
    name: string,
    answer: ContractAnswer,
    kind: OutcomeKind,
    retryAfterMs?: number,
  ])[]
  /** The sample goes to an address of its recipient's own, whose trouble is no one else's. */
  readonly callsRecipient?: true
  /** Where a bare status means something else than usual: 401 misconfigured, 429 and 500 busy. */
  readonly statuses?: Readonly<Record<number, OutcomeKind>>
  /** Signs each request with a private key, which takes far longer than all else: fewer answers are fuzzed. */
  readonly signs?: true
  /** A success needs no body: an empty or strange one is one too. */
  readonly bodyIsIgnored?: true
  /** Parts of a request that differ each time, such as a random signature: struck out of the golden file. */
  readonly volatile?: readonly RegExp[]
  /** Why a passthrough of the body cannot be tried: the request has no body to add to. */
  readonly withoutBody?: string
  readonly check?: readonly (readonly [
    name: string,
    answer: ContractAnswer,
    result: 'good' | 'bad' | `bad: ${string}`,
  ])[]
  readonly batch?: {
    /** Two or more; the sample with other recipients. */
    readonly messages: readonly object[]
    readonly answer: ContractAnswer
    readonly kinds: readonly OutcomeKind[]
  }
  readonly receipts?: {
    /** `inboundWebhookSigningKey`. */
    readonly key?: string
    /** The clock of signed calls. */
    readonly now?: string
    /** Answers to calls that verifying makes, such as for a certificate. */
    fetches?(asked: AskedRequest): ContractAnswer
    readonly cases: readonly ReceiptCase[]
    /** Calls that must not be believed, beside those the tests make by tampering. */
    readonly unbelievable?: readonly { readonly name: string; readonly call: ContractCall }[]
    readonly greetings?: readonly {
      readonly name: string
      readonly call: ContractCall
      readonly answer: string | undefined
    }[]
  }
  readonly replies?: {
    readonly key?: string
    readonly now?: string
    readonly cases: readonly {
      readonly name: string
      readonly call: ContractCall
      readonly expected: InboundMail | undefined
    }[]
  }
}

export const webhookAddress = 'https://posthorn.example.com/v1/webhooks/env-1/int-1'

export function inboundCallOf({ method = 'POST', query = '', headers = {}, body = '' }: ContractCall): InboundCall {
  const isText = typeof body === 'string' || Buffer.isBuffer(body)
  const type = isText ? {} : { 'content-type': 'application/json' }
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return {
    method,
    url: `${webhookAddress}${query}`,
    query: new URLSearchParams(query),
    headers: { ...type, ...Object.fromEntries(lower) },
    body: isText ? Buffer.from(body) : Buffer.from(JSON.stringify(body)),
  }
}

const metadata = { transactionId: 'tx-1', workflow: 'order-shipped', subscriberId: 'sub-1' }

/** One of each channel with everything it can hold. */
export const fullMessages = {
  email: {
    id: '0197f3a0-0000-7000-8000-000000000001',
    to: ['zoe@example.org', 'yan@example.org'],
    cc: ['amy@example.org'],
    bcc: ['ben@example.org'],
    replyTo: 'help@acme.test',
    subject: 'Invoice 7 – “paid”',
    html: '<p>Hi Zoë</p>',
    text: 'Hi Zoë',
    headers: { 'X-Kind': 'invoice' },
    attachments: [
      { name: 'terms.txt', mime: 'text/plain', content: 'SGVsbG8=' },
      { name: 'logo.png', mime: 'image/png', content: 'iVBORw0KGgo=', cid: 'logo', disposition: 'inline' },
    ],
    ipPoolName: 'transactional',
    tags: ['invoice', 'paid'],
    metadata,
  },
  sms: {
    id: '0197f3a0-0000-7000-8000-000000000002',
    to: '+447700900123',
    from: 'Acme',
    content: 'Your code is 4821 – “valid” ☎',
    metadata,
  },
  push: {
    id: '0197f3a0-0000-7000-8000-000000000003',
    target: 'device-token-0001',
    title: 'Order shipped',
    content: 'Your order #42 is on its way – “soon”',
    payload: { orderId: 42, items: ['a', 'b'], gift: true },
    subscriberId: 'sub-1',
    metadata,
  },
  chat: {
    id: '0197f3a0-0000-7000-8000-000000000004',
    entry: {},
    content: 'Order *#42* shipped – “soon”',
    metadata,
  },
} as const

/** One of each channel with nothing that may be left out. */
export const leastMessages = {
  email: {
    ...fullMessages.email,
    to: ['zoe@example.org'],
    cc: [],
    bcc: [],
    replyTo: undefined,
    text: '',
    headers: {},
    attachments: [],
    ipPoolName: undefined,
    tags: [],
    metadata: {},
  },
  sms: { ...fullMessages.sms, from: undefined, content: 'Your code is 4821', metadata: {} },
  push: { ...fullMessages.push, title: '', payload: {}, metadata: {} },
  chat: { ...fullMessages.chat, content: 'Shipped', metadata: {} },
} as const

type MessageChannel = keyof typeof fullMessages

export function sampleMessage({ provider, message = {} }: ProviderContract, more: object = {}): OutboundMessage {
  return given({ ...fullMessages[provider.channel as MessageChannel], ...message, ...more })
}

/** Of the contract's own message only what says where it goes is kept. */
export function leastMessage({ provider, message = {} }: ProviderContract): OutboundMessage {
  const { target, webhookUrl, channel, phone, to, entry } = message as Record<string, unknown>
  const where = Object.entries({ target, webhookUrl, channel, phone, to, entry }).filter(
    ([, value]) => value !== undefined,
  )
  return given({ ...leastMessages[provider.channel as MessageChannel], ...Object.fromEntries(where) })
}

function given(message: object): OutboundMessage {
  return Object.fromEntries(
    Object.entries(message).filter(([, value]) => value !== undefined),
  ) as unknown as OutboundMessage
}

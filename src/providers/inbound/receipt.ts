// Why a vendor calls us: receipts, which report what happened to a message, and replies to e-mails.
import type { World } from '../../world/world.ts'

/**
 * `bounced` is final, a temporary bounce is `deferred`; `rejected` was never sent on; `failed` is anything else that
 * did not arrive. `unsubscribed` wants nothing more.
 */
export const receiptStatuses = [
  'queued',
  'sent',
  'deferred',
  'delivered',
  'opened',
  'clicked',
  'failed',
  'rejected',
  'bounced',
  'complained',
  'unsubscribed',
] as const
export type ReceiptStatus = (typeof receiptStatuses)[number]

/** What happened to one message. One of the ids must be present, or it matches no message. */
export interface Receipt {
  readonly status: ReceiptStatus
  /** Ours, if the vendor returns it. */
  readonly messageId?: string
  /** As returned by sending. */
  readonly providerMessageId?: string
  /** The recipient, in the vendor's words: an e-mail may have several recipients. */
  readonly address?: string
  readonly at?: Date
  /** The vendor's words, without secrets. */
  readonly words?: string
  /** Push: the device is gone. */
  readonly deadToken?: true
  /** The report itself, for debugging. */
  readonly row: unknown
}

/** A call from outside, before anything of it is trusted. */
export interface InboundCall {
  readonly method: string
  /** The whole address, as the vendor called it. */
  readonly url: string
  readonly query: URLSearchParams
  /** With names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** What a call is verified with. */
export interface Proof<Account> {
  /** `inboundWebhookSigningKey` of the integration. */
  readonly key: string | undefined
  readonly account: Account
  readonly world: World
}

interface InboundReader<Account> {
  /** How a call is authenticated, and how that is set up at the vendor: a sentence or two for docs/providers.md. */
  readonly setUp: string
  /** The vendor's own signature. Left out where it does not sign its requests: then the call must carry the integration's key. */
  verify?(call: InboundCall, proof: Proof<Account>): boolean | Promise<boolean>
  /**
   * For a vendor that signs a token and not the body: the token of a verified request, and what a repeat of the request
   * has again. The token is used up afterwards. Undefined if the signature covers the body.
   */
  signedWord?(call: InboundCall, proof: Proof<Account>): SignedWord | undefined
}

export interface SignedWord {
  readonly token: string
  readonly content: string | Buffer
}

export interface ReceiptReader<Account> extends InboundReader<Account> {
  /** Of a call that was verified. What cannot be read is left out; a call that holds no report is an empty list. */
  read(call: InboundCall): readonly Receipt[]
  /** The response by which the vendor knows that we received it. */
  readonly reply?: string
  /**
   * For a vendor that first checks whether we respond: what to return, as text. Called before `verify`, so it must
   * decide itself whether the request may be answered.
   */
  greet?(call: InboundCall, proof: Proof<Account>): string | undefined | Promise<string | undefined>
}

export interface InboundMail {
  readonly from: string
  /** All recipients, as far as the vendor reports them. */
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
  readonly messageId?: string
  readonly inReplyTo?: string
  readonly attachments: readonly { readonly name: string; readonly mime: string; readonly content: string }[]
}

export interface ReplyReader<Account> extends InboundReader<Account> {
  /** Undefined where the call holds no mail. */
  read(call: InboundCall): InboundMail | undefined | Promise<InboundMail | undefined>
}

/** For a vendor that has to be polled. */
export interface Polling<Account> {
  /** How long after sending the first query makes sense, and for how long results are available. */
  readonly firstAfterMs: number
  readonly againAfterMs: number
  readonly givesUpAfterMs: number
  /** Ids per query. */
  readonly max: number
  /** What is known by now; ids that are not known yet are omitted. Undefined: the vendor could not be reached. */
  ask(world: World, providerMessageIds: readonly string[], account: Account): Promise<readonly Receipt[] | undefined>
}

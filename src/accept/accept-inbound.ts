// A call from a provider: believed or not, then recorded before it is answered.
import type { Db } from '../db/sql.ts'
import type { Integration } from '../domain/delivery/integration.ts'
import type { Environment } from '../domain/environment.ts'
import { isBelieved, mailIn, receiptsIn } from '../providers/inbound/inbound.ts'
import type { InboundCall, Proof, Receipt } from '../providers/inbound/receipt.ts'
import type { Provider } from '../providers/provider.ts'
import { providerOf } from '../providers/registry.ts'
import type { Queue } from '../queue/queue.ts'
import { keepForLater } from '../record/receipts/late-receipts.ts'
import type { ReportedReceipt } from '../record/receipts/record-receipts.ts'
import { recordReceipts } from '../record/receipts/record-receipts.ts'
import { rememberWord } from '../store/integrations/inbound-tokens.ts'
import type { World } from '../world/world.ts'
import { acceptReply } from './accept-reply.ts'

export type InboundResult =
  /** No integration here expects such requests. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'disbelieved' }
  /** The vendor asked whether we are there. */
  | { readonly kind: 'greeted'; readonly answer: string }
  /** `reply`: the words that the vendor waits for. */
  | { readonly kind: 'taken'; readonly reports: readonly ReportedReceipt[]; readonly reply?: string | undefined }

/** Reports in one transaction; vendors send some hundreds a call. Whole calls are repeated by them, which does no harm. */
const receiptsPerPage = 1_000

/** Whether calls are expected at all, before anything of them is read. */
export function takesCalls({ providerId, configurations }: Integration): boolean {
  const provider = providerOf(providerId)
  const hasReader = provider?.receipts !== undefined || provider?.replies !== undefined
  return hasReader && configurations?.inboundWebhookEnabled === true
}

export async function acceptInbound(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  { integration, call }: { integration: Integration; call: InboundCall },
): Promise<InboundResult> {
  const provider = providerOf(integration.providerId)
  if (provider === undefined || !takesCalls(integration)) return { kind: 'unknown' }
  const { inboundWebhookSigningKey } = integration.configurations ?? {}
  const proof = { key: inboundWebhookSigningKey, account: integration.credentials, world }
  const greeting = await greetingOf(provider, call, proof)
  if (greeting !== undefined) return { kind: 'greeted', answer: greeting }
  const isNew = (reader: Reader) => isFirstUse(db, world, environment, integration, { reader, call, proof })
  const { receipts: receiptReader, replies } = provider
  const isReceipt =
    receiptReader !== undefined && (await isBelieved(receiptReader, call, proof)) && (await isNew(receiptReader))
  const receipts = isReceipt ? receiptsIn(provider, call) : []
  if (receipts.length > 0) {
    const reports: ReportedReceipt[] = []
    for (let from = 0; from < receipts.length; from += receiptsPerPage) {
      const page = receipts.slice(from, from + receiptsPerPage)
      reports.push(...(await recordPage(db, world, environment, queue, { integration, receipts: page })))
    }
    return { kind: 'taken', reports, reply: receiptReader?.reply }
  }
  const isReply = replies !== undefined && (await isBelieved(replies, call, proof)) && (await isNew(replies))
  if (!isReceipt && !isReply) return { kind: 'disbelieved' }
  const mail = isReply ? await mailIn(provider, call) : undefined
  if (mail !== undefined) await acceptReply(db, world, environment, queue, { integration, mail })
  return { kind: 'taken', reports: [] }
}

type Reader = NonNullable<Provider['receipts'] | Provider['replies']>

/** Whether what a vendor signed once was not used for something else before. */
async function isFirstUse(
  db: Db,
  world: World,
  environment: Environment,
  { _id }: Integration,
  { reader, call, proof }: { reader: Reader; call: InboundCall; proof: Proof<Integration['credentials']> },
): Promise<boolean> {
  const word = reader.signedWord?.(call, proof as never)
  return word === undefined || rememberWord(db, environment, _id, word, world.now())
}

async function recordPage(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  { integration, receipts }: { integration: Integration; receipts: readonly Receipt[] },
): Promise<readonly ReportedReceipt[]> {
  const { _id: integrationId } = integration
  const { matched } = await recordReceipts(db, world, environment, { integration, receipts }, (tx, early) =>
    keepForLater(tx, world, environment, queue, { integrationId, receipts: early, looks: 0 }),
  )
  return matched
}

async function greetingOf(
  { receipts }: Provider,
  call: InboundCall,
  proof: Proof<Integration['credentials']>,
): Promise<string | undefined> {
  try {
    return await receipts?.greet?.(call, proof as never)
  } catch {
    return undefined
  }
}

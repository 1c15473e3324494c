// Sending through a provider to a vendor on this machine, and what the vendor saw.
import type { IncomingHttpHeaders } from 'node:http'
import type { TestContext } from 'node:test'
import type { Outcome } from '../../src/domain/delivery/outcome.ts'
import type {
  ChatMessage,
  OutboundMessage,
  PushMessage,
  SmsMessage,
} from '../../src/domain/messages/outbound-message.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { createOutboundFetch } from '../../src/world/outbound/outbound-fetch.ts'
import type { FakeWorld } from './fake-world.ts'
import { createFakeWorld } from './fake-world.ts'
import { openNetwork, startVendor } from './integration-scene.ts'
import { bodyOf } from './outbound-scene.ts'

const metadata = { transactionId: 'tx-1', workflow: 'order-shipped', subscriberId: 'sub-1' }

export const smsMessage: SmsMessage = {
  id: '0197f3a0-0000-7000-8000-000000000002',
  to: '+14155550101',
  content: 'Your code is 4821',
  metadata,
}
export const pushMessage: PushMessage = {
  id: '0197f3a0-0000-7000-8000-000000000003',
  target: 'fKz1:APA91bFAKE',
  title: 'Order shipped',
  content: 'Your order #42 is on its way',
  payload: { orderId: 42 },
  subscriberId: 'sub-1',
  metadata,
}
export const chatMessage: ChatMessage = {
  id: '0197f3a0-0000-7000-8000-000000000004',
  entry: {},
  content: 'Order *#42* shipped',
  metadata,
}

export interface VendorAnswer {
  readonly status: number
  readonly headers?: Record<string, string>
  /** Anything but a text is JSON. */
  readonly body?: unknown
}

export interface SeenCall {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Vendor {
  readonly world: FakeWorld
  /** Method and address without its query, as it was before it was led here. */
  readonly asked: string[]
  readonly seen: SeenCall[]
}

/** Every call that leaves goes to a server on this machine, which answers as it is set. */
export async function vendorAnswering(
  t: TestContext,
  answerOf: VendorAnswer | ((call: SeenCall) => VendorAnswer | Promise<VendorAnswer>),
): Promise<Vendor> {
  const seen: SeenCall[] = []
  const asked: string[] = []
  const address = await startVendor(t, async (request, response) => {
    const call = { path: request.url ?? '', headers: request.headers, body: await bodyOf(request) }
    seen.push(call)
    const answer = typeof answerOf === 'function' ? await answerOf(call) : answerOf
    const { body = '' } = answer
    response.writeHead(answer.status, answer.headers).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  const world = createFakeWorld()
  openNetwork(world, { address, asked })
  return { world, asked, seen }
}

export async function sendWith(
  { world }: Pick<Vendor, 'world'>,
  provider: Provider,
  message: OutboundMessage,
  credentials: object,
): Promise<Outcome> {
  const outcome = await provider.send?.(world, message, credentials)
  if (outcome === undefined) throw new Error(`${provider.id} cannot send`)
  return outcome
}

/** A world whose calls go out as they do in earnest: to public addresses only. */
export function guardedWorld(): FakeWorld {
  const world = createFakeWorld()
  world.onFetch = createOutboundFetch({ allow: [] })
  return world
}

/** The kind of an outcome, with the reason of a refusal. */
export const kindOf = (outcome: Outcome): string =>
  outcome.kind === 'refused' ? `refused: ${outcome.reason}` : outcome.kind

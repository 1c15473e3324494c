// Expo's receipts: what Apple and Google said to the messages that Expo handed them.
// https://docs.expo.dev/push-notifications/sending-notifications/#check-push-receipts-for-errors
import { OutboundError } from '../../world/outbound/outbound-error.ts'
import type { World } from '../../world/world.ts'
import type { Polling, Receipt } from '../inbound/receipt.ts'
import { answerOf } from '../provider-answer.ts'
import { readingOf } from '../reading.ts'
import { errorWords } from './expo-outcome.ts'

const minuteMs = 60_000
/** The most that Expo answers in one request. */
const idsMax = 1_000
const askTimeoutMs = 15_000

export function expoReceipts<Account>(
  url: string,
  headersOf: (account: Account) => Record<string, string>,
): Polling<Account> {
  return {
    firstAfterMs: 15 * minuteMs,
    againAfterMs: 30 * minuteMs,
    // Expo deletes them after that.
    givesUpAfterMs: 24 * 60 * minuteMs,
    max: idsMax,
    async ask(world, ids, account) {
      const request = { url, method: 'POST', headers: headersOf(account), body: JSON.stringify({ ids }) }
      const data = await asked(world, request)
      return data === undefined ? undefined : ids.flatMap((id) => receiptOf(id, data[id]) ?? [])
    },
  }
}

async function asked(
  world: World,
  request: Parameters<World['fetch']>[0],
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const answer = answerOf(await world.fetch(request, { timeoutMs: askTimeoutMs }))
    const data = answer.value('data')
    const isRead = answer.status === 200 && typeof data === 'object' && data !== null
    return isRead ? Object.fromEntries(Object.entries(data)) : undefined
  } catch (error) {
    if (error instanceof OutboundError) return undefined
    throw error
  }
}

function receiptOf(providerMessageId: string, row: unknown): Receipt | undefined {
  const receipt = readingOf(row)
  const status = receipt.string('status')
  // Handed to Apple or Google: whether the device has received it is not reported.
  if (status === 'ok') return { status: 'sent', providerMessageId, row }
  if (status !== 'error') return undefined
  const isGone = receipt.string('details.error') === 'DeviceNotRegistered'
  const words = errorWords(receipt)
  return { status: 'failed', providerMessageId, words, ...(isGone ? { deadToken: true } : {}), row }
}

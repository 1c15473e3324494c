// Which events follow from what a statement writes about messages; none where no endpoint would be sent them.
import type { MessageStatus } from '../../domain/messages/message.ts'
import type { MessageFacts, WebhookEventType } from '../../domain/webhooks/webhook-event.ts'
import type { NewMessage } from '../../store/messages/insert.ts'
import type { CallResult } from '../../store/messages/sending.ts'
import type { FencedNews } from '../../store/webhooks/webhook-news.ts'
import type { World } from '../../world/world.ts'

/** A step that could not be sent is a `warning`, and so is a message that was perhaps sent: neither counts as sent. */
const typeOf = (status: MessageStatus): WebhookEventType => (status === 'sent' ? 'message.sent' : 'message.failed')

/** Messages that are over as soon as they are written: those of the feed, and those that no one can be sent. */
export function newsOfMessages(world: World, messages: readonly NewMessage[], now: Date): FencedNews[] {
  const news: FencedNews[] = []
  for (const message of messages) {
    if (message.isReported !== true || message.state !== 'done' || message.status === null) continue
    const facts: MessageFacts = {
      status: message.status,
      error: errorOf(message.error),
      providerId: message.providerId,
    }
    const { id, subscriberId, jobId } = message
    const type = typeOf(message.status)
    news.push({ id: world.newId(now), type, subjectId: id, subscriberId, facts: { ...facts }, at: now, fenceId: jobId })
  }
  return news
}

/** Messages whose call was the last, and integrations that fail. */
export function newsOfResults(world: World, results: readonly CallResult[], now: Date): FencedNews[] {
  const news: FencedNews[] = []
  for (const result of results) {
    const { id, status, reportedTo } = result
    if (reportedTo === undefined) continue
    if (result.failing !== undefined) news.push({ ...result.failing, fenceId: id })
    if (result.optedOut !== undefined) {
      const left = { workflow: null, channel: result.optedOut, source: 'provider' }
      const about = { subjectId: reportedTo.subscriberId, subscriberId: reportedTo.subscriberId, facts: left, at: now }
      news.push({ id: world.newId(now), type: 'subscriber.unsubscribed', ...about, fenceId: id })
    }
    if (result.state !== 'done' || status === null) continue
    const facts: MessageFacts = {
      status,
      error: errorOf(result.error),
      providerId: result.asked?.providerId ?? null,
      providerMessageId: result.providerMessageId,
      ...(result.isCaptured === true ? { captured: true } : {}),
    }
    const { subscriberId } = reportedTo
    const event = { type: typeOf(status), subjectId: id, subscriberId, facts: { ...facts }, at: now }
    news.push({ id: world.newId(now), ...event, fenceId: id })
  }
  return news
}

const errorOf = (error: NewMessage['error']): { code: string; text: string } | null =>
  error === null ? null : { code: error.errorId, text: error.textWithoutAddress ?? error.errorText }

// How much content a response may have: what exceeds it is discarded as soon as it was rendered, so that it takes no
// memory either.
import type { StoredDetail } from '../domain/insight/execution-detail.ts'
import type { MessageDraft } from '../domain/messages/message.ts'
import type { NewMessage } from '../store/messages/insert.ts'

/** What is left, in characters. */
export interface ContentBudget {
  left: number
}

/** Enough for a dashboard; the rest of the response is small. */
export const contentLengthMax = 8_000_000

/** A message within the budget: without its content, if it did not fit. */
export interface BudgetedMessage extends NewMessage {
  readonly isOmitted?: true
}

export function budgetedMessage(budget: ContentBudget, message: NewMessage): BudgetedMessage {
  const { target, channel } = message.draft
  budget.left -= draftLengthOf(message.draft)
  return budget.left < 0 ? { ...message, draft: { target, channel, content: '' }, isOmitted: true } : message
}

/** Conditions include what they compared, and that can be long. */
export function budgetedDetail(budget: ContentBudget, detail: StoredDetail): StoredDetail {
  if (detail.raw === undefined) return detail
  budget.left -= detail.raw.length
  if (budget.left >= 0) return detail
  const { raw: _, ...rest } = detail
  return rest
}

/** The long parts of a message. */
export function roughLengthOf({ content, envelope }: MessageDraft): number {
  const html = envelope !== undefined && 'html' in envelope ? envelope.html.length : 0
  return (typeof content === 'string' ? content.length : lengthOf(content)) + html
}

/**
 * The fields that can be long, of an e-mail by name: there are many, and checking the type of every field costs more.
 */
function draftLengthOf(draft: MessageDraft): number {
  const { content, subject = '', envelope } = draft
  if (draft.channel !== 'email' || envelope === undefined || !('html' in envelope)) return lengthOf(draft)
  const { to, cc, bcc, html, text, headers, customData, forProviders } = envelope
  let sum = emailLengthLeast + subject.length * 2 + html.length + text.length + lengthOf(headers)
  sum += typeof content === 'string' ? content.length : lengthOf(content)
  sum += lengthOf(to) + lengthOf(cc) + lengthOf(bcc)
  if (customData !== undefined) sum += lengthOf(customData)
  return forProviders === undefined ? sum : sum + lengthOf(forProviders)
}

/** For what of an e-mail is short: ids, tags, who it is from. */
const emailLengthLeast = 200

/** Near enough, and cheap: the texts. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  let sum = 0
  for (const name in value) sum += lengthOf((value as Readonly<Record<string, unknown>>)[name])
  return sum
}

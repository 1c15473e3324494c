// What a subscriber can do with a message: mark it, press one of its buttons, snooze it.
import type { MessageAction, MessageCta } from '../workflows/workflow.ts'

export const marks = ['read', 'unread', 'seen', 'unseen', 'archived', 'unarchived'] as const
/**
 * `read`: read and seen. `unread`: seen, but neither read nor archived. `unseen`: none of the three. `archived`: all
 * three. `unarchived`: read and seen.
 */
export type Mark = (typeof marks)[number]

/** What was so before a mark. */
export interface MarkedBefore {
  readonly seenBefore: boolean
  readonly readBefore: boolean
}

/** Which of the two a mark does for the first time, as far as the message itself shows. */
export function firstsOf(mark: Mark, { seenBefore, readBefore }: MarkedBefore): ('seen' | 'read')[] {
  if (mark === 'unseen') return []
  const reads = mark === 'read' || mark === 'archived' || mark === 'unarchived'
  return [...(seenBefore ? [] : ['seen' as const]), ...(reads && !readBefore ? ['read' as const] : [])]
}

/** One request marks at most this many: one statement, one response of bounded size. */
export const messagesPerMarkMax = 100

/** The mark of the older body, field by field; undefined if it says nothing, or that something was read unseen. */
export function markOf(mark: { seen?: boolean; read?: boolean }): Mark | undefined {
  if (mark.read === true) return mark.seen === false ? undefined : 'read'
  if (mark.seen === false) return 'unseen'
  if (mark.read === false) return 'unread'
  return mark.seen === true ? 'seen' : undefined
}

export const buttonTypes = ['primary', 'secondary'] as const
export type ButtonType = (typeof buttonTypes)[number]
export const actionStatuses = ['pending', 'done'] as const
export type ActionStatus = (typeof actionStatuses)[number]

/** The payload of a pressed button is stored in the message's row. */
export const actionPayloadBytesMax = 16 * 1024

export interface ActionAnswer {
  readonly type: ButtonType
  readonly status: ActionStatus
  readonly payload?: Readonly<Record<string, unknown>>
}

/** The call to action after a button was pressed; undefined if there is no such button. */
export function withAction(cta: MessageCta, answer: ActionAnswer): MessageCta | undefined {
  return cta.action?.buttons?.some(({ type }) => type === answer.type) === true ? answered(cta, answer) : undefined
}

/**
 * The same as an API key says it. A message without any button takes it as well: public clients note the outcome of a
 * message so, whatever it shows. One that has other buttons does not have this one.
 */
export function withNotedAction(cta: MessageCta, answer: ActionAnswer): MessageCta | undefined {
  return (cta.action?.buttons ?? []).length === 0 ? answered(cta, answer) : withAction(cta, answer)
}

function answered(cta: MessageCta, answer: ActionAnswer): MessageCta {
  const result: MessageAction['result'] =
    answer.payload === undefined ? { type: answer.type } : { type: answer.type, payload: answer.payload }
  return { ...cta, action: { ...cta.action, status: answer.status, result } }
}

/** Longer than anyone needs; a message snoozed for years would outlive its partition. */
export const snoozeDaysMax = 365

/** Why a message cannot be put off until then; undefined when it can. */
export function snoozeMistake(until: Date, now: Date): string | undefined {
  const aheadMs = until.getTime() - now.getTime()
  if (Number.isNaN(aheadMs)) return 'must be an ISO 8601 date-time, such as 2030-01-31T09:00:00.000Z'
  if (aheadMs <= 0) return 'must be in the future'
  if (aheadMs > snoozeDaysMax * 24 * 60 * 60 * 1000) return `must be at most ${snoozeDaysMax} days ahead`
  return undefined
}

/** A page that puts something off for less has misread a clock. */
const inboxSnoozeSecondsMin = 60

/** The same from a subscriber's own inbox. */
export function inboxSnoozeMistake(until: Date, now: Date): string | undefined {
  if (until.getTime() - now.getTime() >= inboxSnoozeSecondsMin * 1000) return snoozeMistake(until, now)
  return Number.isNaN(until.getTime())
    ? snoozeMistake(until, now)
    : `must be at least ${inboxSnoozeSecondsMin} seconds in the future`
}

// The outbox in a terminal: a table of many messages, or one with all its content.
import type { Terminal } from '../command.ts'
import { tableLines } from './table.ts'
import { visible, visibleLines } from './visible-text.ts'

export interface OutboxItem {
  readonly _id: string
  readonly channel: string
  readonly capturedAt: string
  readonly transactionId: string
  readonly subscriberId?: string
  readonly to: readonly string[]
  readonly subject?: string
  readonly title?: string
  readonly preview: string
  readonly providerId: string
  readonly integration?: { readonly identifier: string }
  readonly workflow: { readonly identifier: string }
  readonly _notificationId: string
}

export interface OutboxMessage extends OutboxItem {
  readonly message: Readonly<Record<string, unknown>>
  readonly attachments: readonly { readonly name: string; readonly mime: string; readonly bytes: number }[]
}

export function itemLines(items: readonly OutboxItem[], { width }: Pick<Terminal, 'width'>): string[] {
  const rows = items.map((item) => [
    item._id,
    item.capturedAt,
    item.channel,
    item.to.join(', '),
    item.workflow.identifier,
    item.subject ?? item.title ?? item.preview,
  ])
  return tableLines(['ID', 'CAPTURED AT', 'CHANNEL', 'TO', 'WORKFLOW', 'SAYS'], rows, { width })
}

/** Fields of a message that have their own lines, and those with its content. */
const headers = ['from', 'senderName', 'cc', 'bcc', 'replyTo'] as const

export function messageLines(item: OutboxMessage): string[] {
  const { message, attachments } = item
  const facts: [string, unknown][] = [
    ['Message', item._id],
    ['Captured at', item.capturedAt],
    ['Channel', item.channel],
    ['By', `${item.integration?.identifier ?? ''} ${item.providerId}`.trim()],
    ['Workflow', item.workflow.identifier],
    ['Notification', item._notificationId],
    ['Transaction', item.transactionId],
    ['Subscriber', item.subscriberId],
    ['To', item.to],
    ...headers.map((name): [string, unknown] => [`${name[0]?.toUpperCase()}${name.slice(1)}`, message[name]]),
    ['Subject', item.subject],
    ['Title', item.title],
    ['Files', attachments.map(({ name, mime, bytes }) => `${name} (${mime}, ${bytes} bytes)`)],
  ]
  const shown = facts.map(([name, value]): [string, string] => [name, textOf(value)]).filter(([, text]) => text !== '')
  const width = Math.max(...shown.map(([name]) => name.length))
  const said = message['text'] ?? message['content'] ?? message['html']
  return [
    ...shown.map(([name, text]) => visible(`${name.padEnd(width)}  ${text}`)),
    ...(said === undefined ? [] : ['', ...visibleLines(textOf(said)).split('\n')]),
  ]
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

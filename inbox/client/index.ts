// posthorn/inbox: a subscriber's inbox for pages and apps. No framework, no dependencies.
import type { InboxOptions } from './http.ts'
import { createHttp } from './http.ts'
import type { InboxStream, StreamHandlers } from './stream.ts'
import { openStream } from './stream.ts'
import type { Channel, Filter, InboxNotification, Page, Preference, Session } from './types.ts'

export type { InboxOptions } from './http.ts'
export type { InboxStream, StreamHandlers } from './stream.ts'
export type * from './types.ts'
export { InboxError } from './types.ts'

export type Mark = 'read' | 'unread' | 'archive' | 'unarchive' | 'unsnooze'
export type BulkMark = 'read' | 'archive' | 'read-archive' | 'delete' | 'seen'

export interface ListOptions extends Filter {
  readonly limit?: number
  /** The id of the last notification of the page before. */
  readonly after?: string
}

export interface Inbox {
  /** Opened with the first call that needs it; a page may open it early. */
  session(): Promise<Session>
  list(options?: ListOptions): Promise<Page>
  /** One number for each filter, at most 100 each. */
  counts(filters: readonly Filter[]): Promise<number[]>
  mark(id: string, mark: Mark): Promise<InboxNotification>
  snooze(id: string, until: Date): Promise<InboxNotification>
  /** Completes an action of the notification, or takes that back. */
  complete(id: string, action: 'primary' | 'secondary', isCompleted?: boolean): Promise<InboxNotification>
  remove(id: string): Promise<void>
  /** All that have one of the tags and the data, or all. */
  markAll(mark: BulkMark, filter?: Pick<Filter, 'tags' | 'data'>): Promise<void>
  seen(ids: readonly string[]): Promise<void>
  preferences(): Promise<Preference[]>
  /** Of one workflow, or of all where none is named. */
  setPreference(workflowId: string | undefined, channels: Partial<Record<Channel, boolean>>): Promise<Preference>
  /** Changes as they happen, without a gap after a lost connection. */
  stream(handlers: StreamHandlers): InboxStream
}

export function openInbox(options: InboxOptions): Inbox {
  const http = createHttp(options)
  const data = async <Value>(method: string, path: string, body?: unknown): Promise<Value> =>
    ((await http.call(method, path, body)) as { data: Value }).data
  const patch = (id: string, verb: string, body?: unknown): Promise<InboxNotification> =>
    data('PATCH', `/notifications/${encodeURIComponent(id)}/${verb}`, body)
  return {
    session: http.session,
    list: async (listed = {}) => (await http.call('GET', `/notifications?${queryOf(listed)}`)) as Page,
    counts: async (filters) => {
      const query = encodeURIComponent(JSON.stringify(filters))
      const counted = await data<{ count: number }[]>('GET', `/notifications/count?filters=${query}`)
      return counted.map(({ count }) => count)
    },
    mark: (id, mark) => patch(id, mark),
    snooze: (id, until) => patch(id, 'snooze', { snoozeUntil: until.toISOString() }),
    complete: (id, actionType, isCompleted = true) => patch(id, isCompleted ? 'complete' : 'revert', { actionType }),
    remove: async (id) => {
      await http.call('DELETE', `/notifications/${encodeURIComponent(id)}/delete`)
    },
    markAll: async (mark, { tags, data: about } = {}) => {
      await http.call('POST', `/notifications/${mark}`, { tags, data: about && JSON.stringify(about) })
    },
    seen: async (notificationIds) => {
      await http.call('POST', '/notifications/seen', { notificationIds })
    },
    preferences: () => data('GET', '/preferences?criticality=nonCritical'),
    setPreference: (workflowId, channels) => {
      const path = workflowId === undefined ? '' : `/${encodeURIComponent(workflowId)}`
      return data('PATCH', `/preferences${path}`, channels)
    },
    stream: (handlers) => openStream(http, handlers),
  }
}

function queryOf({ tags, severity, data, ...rest }: ListOptions): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(rest)) if (value !== undefined) query.set(name, String(value))
  for (const tag of tags ?? []) query.append('tags[]', tag)
  for (const one of [severity ?? []].flat()) query.append('severity[]', one)
  if (data !== undefined) query.set('data', JSON.stringify(data))
  return query
}

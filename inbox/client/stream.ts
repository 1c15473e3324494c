// Server-sent events over fetch: the token stays out of the address, and a lost connection goes on after the last event.
import type { Http } from './http.ts'
import type { InboxNotification, UnreadCount } from './types.ts'
import { InboxError } from './types.ts'

export interface StreamHandlers {
  /** New, or back from a snooze. */
  onReceived?(notification: InboxNotification): void
  /** Marked, snoozed or answered, in this tab or elsewhere. */
  onUpdated?(notification: InboxNotification): void
  onDeleted?(id: string): void
  onUnread?(counts: UnreadCount): void
  onUnseen?(count: number): void
  /** Connected. Where `isResumed` is false, changes may have been missed: fetch the list again. */
  onReady?(isResumed: boolean): void
  /** The connection was lost and will be opened again. */
  onLost?(): void
  /** It will not be opened again: the session was refused. */
  onEnd?(error: Error): void
}

export interface InboxStream {
  close(): void
}

/** The service sends something every 25 s. */
const silentMsMax = 60_000
const firstWaitMs = 1_000
const waitMsMax = 30_000

export function openStream(http: Http, handlers: StreamHandlers): InboxStream {
  const closing = new AbortController()
  let lastId: string | undefined
  let failures = 0
  let wake = (): void => {}
  const onOnline = (): void => wake()
  globalThis.addEventListener?.('online', onOnline)

  async function follow(): Promise<void> {
    const attempt = new AbortController()
    const abort = (): void => attempt.abort()
    closing.signal.addEventListener('abort', abort)
    let timer = setTimeout(abort, silentMsMax)
    try {
      const headers = lastId === undefined ? {} : { 'last-event-id': lastId }
      const response = await http.open('/stream', headers, attempt.signal)
      if (!response.ok || response.body === null) throw new InboxError(response.status, 'The stream was refused')
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return
        clearTimeout(timer)
        timer = setTimeout(abort, silentMsMax)
        const parts = (text + value).split('\n\n')
        text = parts.pop() ?? ''
        for (const part of parts) hear(part)
      }
    } finally {
      clearTimeout(timer)
      closing.signal.removeEventListener('abort', abort)
    }
  }

  function hear(part: string): void {
    const fields: Record<string, string> = {}
    for (const line of part.split('\n')) {
      const [, name = '', value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? []
      fields[name] = value
    }
    const { event, data } = fields
    if (event === undefined || data === undefined || closing.signal.aborted) return
    failures = 0
    const content = JSON.parse(data)
    if (event === 'ready') handlers.onReady?.(content.isResumed)
    else if (event === 'notification_received') handlers.onReceived?.(content)
    else if (event === 'notification_updated') handlers.onUpdated?.(content)
    else if (event === 'notification_deleted') handlers.onDeleted?.(content.id)
    else if (event === 'unread_count_changed') handlers.onUnread?.(content.counts)
    else if (event === 'unseen_count_changed') handlers.onUnseen?.(content.unseenCount)
    else if (event === 'end') throw new InboxError(401, content.why)
    // After its handler: what a handler did not get is asked for again.
    if (fields['id'] !== undefined) lastId = fields['id']
  }

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await follow()
      } catch (error) {
        if (closing.signal.aborted) return
        if (error instanceof InboxError && error.status === 401) await http.renew().catch(endIfRefused)
        else endIfRefused(error)
      }
      if (closing.signal.aborted) return
      handlers.onLost?.()
      // Spread out: a restart must not meet all pages at once.
      await pause(Math.min(waitMsMax, firstWaitMs * 2 ** failures) * (0.5 + Math.random() / 2))
      failures += 1
    }
  }

  /** A client error ends the stream; whatever else went wrong may pass. */
  function endIfRefused(error: unknown): void {
    if (!(error instanceof InboxError) || error.status >= 500 || error.status === 429) return
    close()
    handlers.onEnd?.(error)
  }

  function close(): void {
    closing.abort()
    globalThis.removeEventListener?.('online', onOnline)
    wake()
  }

  void run()
  return { close }
}

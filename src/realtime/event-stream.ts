// An inbox as server-sent events: for whoever can read a response line by line.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
import type { ServerResponse } from 'node:http'
import type { Ending, Follower, OpenedSession } from './follower.ts'
import { mayComeAgain } from './follower.ts'
import type { Hub, Joined } from './hub.ts'
import { bufferedBytesMax, pulseMs } from './limits.ts'
import { lastId } from './look.ts'
import type { News } from './news.ts'

/** How long a browser waits before it connects again. */
const retryMs = 2_000
const endMsMax = 1_000

/**
 * The headers are written already. `after` is the number that the stream was asked to go on from. A client that has gone
 * meanwhile is not followed: its close came before anyone listened.
 */
export function streamEvents(
  hub: Hub,
  session: OpenedSession,
  { isResumed, number }: Joined,
  after: number | undefined,
  response: ServerResponse,
): void {
  if (response.destroyed) return
  const start = isResumed && after !== undefined ? after : number
  let cut: NodeJS.Timeout | undefined
  const write = (text: string): void => {
    if (response.writableLength > bufferedBytesMax) response.destroy()
    else response.write(text)
  }
  const follower: Follower = {
    ...session,
    place: { number: start, messageId: lastId },
    isFresh: !isResumed,
    deliver: (news) => write(news.map(textOf).join('')),
    end: (why) => {
      response.end(ended(why))
      // One that does not read would hold up the stop of the service.
      cut = setTimeout(() => response.destroy(), endMsMax)
    },
  }
  const pulse = setInterval(() => write(':\n\n'), pulseMs)
  response.on('error', () => {})
  response.on('close', () => {
    clearInterval(pulse)
    clearTimeout(cut)
    hub.leave(follower)
  })
  write(`retry: ${retryMs}\n${eventText(start, 'ready', JSON.stringify({ isResumed }))}`)
  hub.add(follower)
}

const textOf = (news: News): string =>
  news
    .streamEvents()
    .map(({ name, json }) => eventText(news.offset, name, json))
    .join('')

const eventText = (id: number, name: string, json: string): string => `id: ${id}\nevent: ${name}\ndata: ${json}\n\n`

/** A node that stops or is full is no end: whoever comes again goes on elsewhere. */
const ended = (why: Ending): string => (mayComeAgain(why) ? '' : `event: end\ndata: ${JSON.stringify({ why })}\n\n`)

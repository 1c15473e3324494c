// An inbox over a plain WebSocket, as public clients with PartySocket read it: {event, data, timestamp} a frame.
import type { World } from '../world/world.ts'
import type { Follower, OpenedSession } from './follower.ts'
import { mayComeAgain } from './follower.ts'
import type { Hub, Joined } from './hub.ts'
import { lastId } from './look.ts'
import type { News } from './news.ts'
import type { OpenSocket } from './web-socket.ts'
import { closing, openLine } from './web-socket.ts'

/** `after` is the number that it was asked to go on from. */
export function servePartySocket(
  hub: Hub,
  world: World,
  session: OpenedSession,
  { isResumed, number }: Joined,
  after: number | undefined,
  opened: OpenSocket,
): void {
  const line = openLine(opened, {
    onText: (text) => {
      if (text === 'ping') line.send('pong')
    },
    ping: () => opened.socket.ping(),
    onClose: () => hub.leave(follower),
  })
  const follower: Follower = {
    ...session,
    place: { number: isResumed && after !== undefined ? after : number, messageId: lastId },
    isFresh: !isResumed,
    deliver: (news) => {
      const timestamp = world.now().getTime()
      line.sendAll(news.flatMap((one) => framesOf(one, timestamp)))
    },
    end: (why) => line.close(mayComeAgain(why) ? closing.goingAway : closing.refused, why),
  }
  hub.add(follower)
}

/** Without taking the data apart again: it is JSON already. The offset is ours, and these clients pass it over. */
const framesOf = (news: News, timestamp: number): string[] =>
  news
    .socketEvents()
    .map(
      ({ name, json }) =>
        `{"event":${JSON.stringify(name)},"data":${json},"timestamp":${timestamp},"offset":"${news.offset}"}`,
    )

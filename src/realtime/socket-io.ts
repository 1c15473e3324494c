// An inbox over Socket.IO: version 5 of its protocol within Engine.IO 4, over WebSocket only.
// https://socket.io/docs/v4/socket-io-protocol/ https://socket.io/docs/v4/engine-io-protocol/
import { createHash, randomBytes } from 'node:crypto'
import { Problem } from '../domain/problem.ts'
import type { Ending, Follower, OpenedSession } from './follower.ts'
import { mayComeAgain } from './follower.ts'
import type { Hub, Joined } from './hub.ts'
import { frameBytesMax, pulseAnswerMs, pulseMs } from './limits.ts'
import { lastId } from './look.ts'
import type { News } from './news.ts'
import type { Line, OpenSocket } from './web-socket.ts'
import { closing, openLine } from './web-socket.ts'

/** Whose session a token opens; a text says why it opens none. */
export type Open = (token: string) => Promise<OpenedSession | string>

/** Whoever connects says within this to which namespace. */
const connectMsMax = 10_000

/** Packets of Engine.IO, and of Socket.IO within its messages. */
const packet = {
  open: '0',
  close: '1',
  ping: '2',
  pong: '3',
  connect: '40',
  disconnect: '41',
  event: '42',
  error: '44',
}

/** A connect: `40`, perhaps a namespace, perhaps an object. */
const connectFrame = /^40(?:(\/[^,{]{1,200}),?)?(\{.*\})?$/s

export function serveSocketIo(hub: Hub, open: Open, token: string | undefined, opened: OpenSocket): void {
  const connection = new Connection(hub, open, token, opened)
  connection.greet()
}

class Connection {
  readonly #hub: Hub
  readonly #open: Open
  readonly #token: string | undefined
  readonly #line: Line
  readonly #patience: NodeJS.Timeout
  #follower: Follower | undefined
  /** `/ws,` where the page's address has a path: these clients take it for a namespace. */
  #namespace = ''
  #isConnecting = false
  #isClosed = false

  constructor(hub: Hub, open: Open, token: string | undefined, opened: OpenSocket) {
    this.#hub = hub
    this.#open = open
    this.#token = token
    this.#patience = setTimeout(() => this.#line.close(closing.refused, 'No connect'), connectMsMax)
    this.#line = openLine(opened, {
      onText: (text) => this.#hear(text),
      ping: () => this.#line.send(packet.ping),
      onClose: () => this.#closed(),
    })
  }

  greet(): void {
    const terms = { upgrades: [], pingInterval: pulseMs, pingTimeout: pulseAnswerMs, maxPayload: frameBytesMax }
    this.#line.send(`${packet.open}${JSON.stringify({ sid: newId(), ...terms })}`)
  }

  #hear(text: string): void {
    if (text.startsWith(packet.connect)) void this.#connect(text)
    else if (text === packet.close || text.startsWith(packet.disconnect)) this.#line.close(closing.normal, '')
    // Pongs are signs of life by themselves; clients of an inbox have nothing else to say.
  }

  async #connect(text: string): Promise<void> {
    const [, namespace, given] = connectFrame.exec(text) ?? []
    if (this.#isConnecting) return this.#refuse(namespace, 'One namespace for each connection')
    this.#isConnecting = true
    this.#namespace = namespace === undefined ? '' : `${namespace},`
    try {
      await this.#enter(authOf(given))
    } catch (error) {
      if (error instanceof Problem && error.status === 401) this.#refuse(namespace, error.message)
      // Gone without a word, so that the client comes again, less and less often.
      else this.#line.close(closing.tooBusy, 'Try again')
    }
  }

  async #enter({ token = this.#token, pid, offset }: Auth): Promise<void> {
    const session = token === undefined ? 'Unauthorized' : await this.#open(token)
    if (typeof session === 'string') throw new Problem(401, session)
    const identity = identityOf(session)
    const after = pid?.startsWith(identity) === true ? (offset ?? numberIn(pid.slice(identity.length))) : undefined
    const joined = await this.#hub.enter(session, after)
    if (this.#isClosed) return
    clearTimeout(this.#patience)
    const isSame = joined.isResumed && pid !== undefined
    const ids = { sid: newId(), pid: isSame ? pid : `${identity}${joined.number}.${newId()}` }
    this.#line.send(`${packet.connect}${this.#namespace}${JSON.stringify(ids)}`)
    // One without an offset has not been sent the counts yet.
    this.#follower = { ...this.#followerOf(session, joined, after), isFresh: !joined.isResumed || offset === undefined }
    this.#hub.add(this.#follower)
  }

  #followerOf(
    session: OpenedSession,
    { isResumed, number }: Joined,
    after: number | undefined,
  ): Omit<Follower, 'isFresh'> {
    return {
      ...session,
      place: { number: isResumed && after !== undefined ? after : number, messageId: lastId },
      deliver: (news) => this.#line.sendAll(news.flatMap((one) => framesOf(this.#namespace, one))),
      end: (why) => this.#end(why),
    }
  }

  /** After `41` the client does not come back; one that only loses its connection does, and goes on elsewhere. */
  #end(why: Ending): void {
    const isLost = mayComeAgain(why)
    if (!isLost) this.#line.send(`${packet.disconnect}${this.#namespace}`)
    this.#line.close(isLost ? closing.goingAway : closing.refused, why)
  }

  /** The client learns why, and does not try again by itself. */
  #refuse(namespace: string | undefined, message: string): void {
    const to = namespace === undefined ? '' : `${namespace},`
    this.#line.send(`${packet.error}${to}${JSON.stringify({ message })}`)
    if (this.#follower === undefined) this.#line.close(closing.refused, message)
  }

  #closed(): void {
    this.#isClosed = true
    clearTimeout(this.#patience)
    if (this.#follower !== undefined) this.#hub.leave(this.#follower)
  }
}

interface Auth {
  readonly token?: string
  /** What an earlier connection was called, and the last offset it received. */
  readonly pid?: string
  readonly offset?: number
}

function authOf(json: string | undefined): Auth {
  const given = objectIn(json ?? '{}')
  const { token, pid, offset } = given
  return {
    ...(typeof token === 'string' ? { token } : {}),
    ...(typeof pid === 'string' && pid.length <= 100 ? { pid } : {}),
    ...(typeof offset === 'string' && /^\d{1,15}$/.test(offset) ? { offset: Number(offset) } : {}),
  }
}

function objectIn(json: string): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(json) as Record<string, unknown> | null) ?? {}
  } catch {
    return {}
  }
}

/** As the first argument its data, as the second the offset, which is how these clients know where they were. */
const framesOf = (namespace: string, news: News): string[] =>
  news
    .socketEvents()
    .map(({ name, json }) => `${packet.event}${namespace}[${JSON.stringify(name)},${json},"${news.offset}"]`)

/** Where the stream began: a client that was cut off before its first event names no offset. */
function numberIn(rest: string): number | undefined {
  const [, digits] = /^(\d{1,15})\./.exec(rest) ?? []
  return digits === undefined ? undefined : Number(digits)
}

const newId = (): string => randomBytes(15).toString('base64url')

/** The same for all sessions of a reader, on every node: an offset means something to no other. */
function identityOf({ reader: { environment, id, contextKeys } }: OpenedSession): string {
  const text = JSON.stringify([environment.id, id, contextKeys])
  return `${createHash('sha256').update(text).digest('base64url').slice(0, 20)}.`
}

// Connections to mail servers, kept and reused: a few per account, each for some messages.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import SMTPConnection from 'nodemailer/lib/smtp-connection/index.js'
import { whenAnswered } from '../../world/outbound/may-leave.ts'
import type { MayLeave } from '../../world/world.ts'
import type { AddressesOf, SmtpAccount } from './smtp-account.ts'
import { logIn, smtpSettings } from './smtp-account.ts'
import { noConnectionCode } from './smtp-outcome.ts'

export interface SmtpMail {
  readonly from: string
  /** All its recipients. */
  readonly recipients: readonly string[]
  /** Headers and body, as they travel. */
  readonly raw: Buffer
  /** Called once, between the server's 354 and the content. */
  readonly mayLeave?: MayLeave | undefined
  /** If the server rejects some recipients: which rejection is a reason not to send the content at all. */
  reasonToStop?(refusals: readonly unknown[]): unknown
}

export type SmtpResult =
  | {
      readonly kind: 'taken' /** One for each recipient the server would not have. */
      readonly refusals: readonly unknown[]
    }
  /** `mayBeTaken`: the dot that ends the content may have arrived. Before it, a server has nothing to deliver. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly mayBeTaken: boolean }
  /** The answer to `mayLeave` was no. */
  | { readonly kind: 'withheld' }

/** Per account, unless it says otherwise: servers commonly allow five to twenty. */
export const connectionsMax = 5
/** After this many messages, servers commonly close the connection themselves. */
const messagesPerConnectionMax = 100
/** Well below the 5 minutes a server must wait, and long enough to carry a burst over its pauses. */
const idleConnectionMs = 30_000
/** A server may take long to reply; the deadline of the call is shorter. */
const silenceMs = 60_000
/** How long a server may take to say goodbye. */
const goodbyeMs = 1_000
/** The content is passed on in pieces of this size: the last one, and the dot after it, only when the others are sent. */
const chunkBytes = 16 * 1024

interface Line {
  readonly connection: SMTPConnection
  messages: number
  isOpen: boolean
  /** Until QUIT was sent, or has taken too long. */
  timer: NodeJS.Timeout | undefined
}

/** One message on its way, and how to stop it. */
interface Attempt {
  /** The server has asked for the content. */
  isAsked: boolean
  mayBeTaken: boolean
  /** Waiting for one of our connections: the server is not to blame. */
  isWaiting: boolean
  isOver: boolean
  stop(): void
}

const pools = new Map<string, SmtpPool>()

/**
 * Not nodemailer's own pool: that one resends by itself what was in flight when a connection broke, and a message whose
 * time is up cannot be removed from its queue. Either could send a message twice.
 */
export function sendBySmtp(
  account: SmtpAccount,
  mail: SmtpMail,
  timeoutMs: number,
  addressesOf?: AddressesOf,
): Promise<SmtpResult> {
  const key = keyOf(account)
  let pool = pools.get(key)
  if (pool === undefined) {
    const onEmpty = (): void => {
      if (pools.get(key) === made) pools.delete(key)
    }
    const made: SmtpPool = new SmtpPool(account, onEmpty, addressesOf)
    pool = made
    pools.set(key, made)
  }
  return pool.send(mail, timeoutMs)
}

/** Closes idle connections until there are no more than `max`: other processes use the account too. */
export function keepSmtpConnections(account: SmtpAccount, max: number): void {
  pools.get(keyOf(account))?.keep(max)
}

/** Says goodbye on every connection, once the messages in flight have finished. */
export async function closeSmtpPools(): Promise<void> {
  const open = [...pools.values()]
  pools.clear()
  await Promise.all(open.map((pool) => pool.close()))
}

function keyOf(account: SmtpAccount): string {
  const { host, port, user, password, token, secure, requireTls, ignoreTls, tlsOptions } = account
  const accountKey = JSON.stringify([host, port, user, password, token, secure, requireTls, ignoreTls, tlsOptions])
  return createHash('sha256').update(accountKey).digest('base64')
}

class SmtpPool {
  readonly #account: SmtpAccount
  readonly #addressesOf: AddressesOf | undefined
  readonly #onEmpty: () => void
  readonly #idle: Line[] = []
  /** Each is given a connection, or nothing if it may open one itself. */
  readonly #waiting: ((line: Line | undefined) => void)[] = []
  /** Connections that are open or being opened. */
  #count = 0
  #isClosing = false
  #whenEmpty: () => void = () => {}

  constructor(account: SmtpAccount, onEmpty: () => void, addressesOf: AddressesOf | undefined) {
    this.#addressesOf = addressesOf
    this.#account = account
    this.#onEmpty = onEmpty
  }

  async send(mail: SmtpMail, timeoutMs: number): Promise<SmtpResult> {
    const attempt: Attempt = { isAsked: false, mayBeTaken: false, isWaiting: false, isOver: false, stop: () => {} }
    const failed = (error: unknown): SmtpResult => ({ kind: 'failed', error, mayBeTaken: attempt.mayBeTaken })
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<SmtpResult>((resolve) => {
      timer = setTimeout(() => {
        attempt.isOver = true
        resolve(failed(tooLateError(attempt, timeoutMs)))
        attempt.stop()
      }, timeoutMs)
    })
    return Promise.race([this.#sendOnce(mail, attempt).catch(failed), tooLate]).finally(() => clearTimeout(timer))
  }

  keep(max: number): void {
    for (const line of this.#idle.slice(0, Math.max(0, this.#count - max))) this.#sayGoodbye(line)
  }

  async close(): Promise<void> {
    this.#isClosing = true
    for (const line of [...this.#idle]) this.#sayGoodbye(line)
    if (this.#count === 0) return
    await new Promise<void>((resolve) => {
      this.#whenEmpty = resolve
    })
  }

  async #sendOnce(mail: SmtpMail, attempt: Attempt): Promise<SmtpResult> {
    const line = await this.#take(attempt)
    if (attempt.isOver) {
      this.#release(line)
      throw new Error('The time limit was reached')
    }
    const isUsed = line.messages > 0
    const result = await this.#transmit(line, mail, attempt)
    // The server had closed an idle connection: nothing was lost with it, and another is used.
    const wasGone = isUsed && result.kind === 'failed' && !attempt.isAsked && !line.isOpen && !attempt.isOver
    return wasGone ? this.#sendOnce(mail, attempt) : result
  }

  #transmit(line: Line, mail: SmtpMail, attempt: Attempt): Promise<SmtpResult> {
    attempt.stop = () => this.#drop(line)
    const envelope = { from: mail.from, to: [...mail.recipients], size: mail.raw.length }
    return new Promise((resolve) => {
      const content = contentOf(mail, attempt, line, (result) => {
        // Disconnecting is the only way not to send content to a server that waits for it.
        this.#drop(line)
        resolve(result)
      })
      line.connection.send(envelope, content, (error, info) => {
        line.messages += 1
        const { isAsked, mayBeTaken } = attempt
        // A server that replies before the end of the content would take whatever comes next for content.
        if (isAsked && !mayBeTaken) this.#drop(line)
        else if (error) this.#recover(line, error)
        else this.#release(line)
        if (error) resolve({ kind: 'failed', error, mayBeTaken })
        else if (mayBeTaken) resolve({ kind: 'taken', refusals: info.rejectedErrors ?? [] })
        else
          resolve({
            kind: 'failed',
            error: new Error(`The server replied before it had received the whole message: ${info.response}`),
            mayBeTaken,
          })
      })
    })
  }

  async #take(attempt: Attempt): Promise<Line> {
    const free = this.#idle.pop()
    if (free !== undefined) {
      clearTimeout(free.timer)
      return free
    }
    if (this.#count < (this.#account.connectionsMax ?? connectionsMax)) return this.#open(attempt)
    attempt.isWaiting = true
    const line = await new Promise<Line | undefined>((resolve) => {
      this.#waiting.push(resolve)
      attempt.stop = () => removeFrom(this.#waiting, resolve)
    })
    attempt.isWaiting = false
    return line ?? this.#take(attempt)
  }

  async #open(attempt: Attempt): Promise<Line> {
    this.#count += 1
    try {
      const connection = await connect(this.#account, attempt, this.#addressesOf)
      const line: Line = { connection, messages: 0, isOpen: true, timer: undefined }
      connection.on('error', () => this.#drop(line))
      connection.once('end', () => this.#drop(line))
      return line
    } catch (error) {
      this.#left()
      throw error
    }
  }

  /** After a rejection the connection is usable again, once RSET was sent. */
  #recover(line: Line, error: SMTPConnection.SMTPError): void {
    const isRefusal = (error.code === 'EENVELOPE' || error.code === 'EMESSAGE') && error.responseCode !== 421
    if (!line.isOpen) return
    if (isRefusal) line.connection.reset((failed) => (failed ? this.#drop(line) : this.#release(line)))
    else this.#drop(line)
  }

  #release(line: Line): void {
    if (!line.isOpen) return
    if (this.#isClosing || line.messages >= messagesPerConnectionMax) {
      this.#sayGoodbye(line)
      return
    }
    const next = this.#waiting.shift()
    if (next !== undefined) {
      next(line)
      return
    }
    line.timer = setTimeout(() => this.#sayGoodbye(line), idleConnectionMs)
    line.timer.unref()
    this.#idle.push(line)
  }

  #sayGoodbye(line: Line): void {
    clearTimeout(line.timer)
    removeFrom(this.#idle, line)
    line.timer = setTimeout(() => this.#drop(line), goodbyeMs)
    line.connection.quit()
  }

  #drop(line: Line): void {
    if (!line.isOpen) return
    line.isOpen = false
    clearTimeout(line.timer)
    removeFrom(this.#idle, line)
    line.connection.close()
    this.#left()
  }

  #left(): void {
    this.#count -= 1
    const next = this.#waiting.shift()
    if (next !== undefined) next(undefined)
    else if (this.#count === 0) {
      this.#onEmpty()
      this.#whenEmpty()
    }
  }
}

function tooLateError({ isWaiting }: Attempt, timeoutMs: number): Error {
  if (!isWaiting) return new Error(`The server took longer than ${timeoutMs} ms`)
  return Object.assign(new Error(`No connection became available within ${timeoutMs} ms`), { code: noConnectionCode })
}

/**
 * Read only after the server has asked for it; then `mayLeave` is checked, and the server waits for as long as that
 * takes.
 */
function contentOf(mail: SmtpMail, attempt: Attempt, line: Line, withhold: (result: SmtpResult) => void): Readable {
  const { raw, mayLeave } = mail
  let position = 0
  const push = (): void => {
    // The end is the dot.
    attempt.mayBeTaken = position >= raw.length
    content.push(attempt.mayBeTaken ? null : raw.subarray(position, position + chunkBytes))
    position += chunkBytes
  }
  const content = new Readable({
    // No more than one piece is read ahead.
    highWaterMark: 1,
    read() {
      if (attempt.isAsked) return push()
      attempt.isAsked = true
      const error = mail.reasonToStop?.(refusalsOf(line.connection))
      if (error !== undefined) return withhold({ kind: 'failed', error, mayBeTaken: false })
      whenAnswered(mayLeave, (isAllowed) => {
        if (attempt.isOver || content.destroyed) return
        if (isAllowed) push()
        else withhold({ kind: 'withheld' })
      })
    },
  })
  return content
}

/** Which recipients the server rejected. nodemailer reports them at the end; until then they are found here. */
function refusalsOf(connection: SMTPConnection): readonly unknown[] {
  const { _envelope } = connection as unknown as { _envelope?: { rejectedErrors?: unknown } }
  const refusals = _envelope?.rejectedErrors
  return Array.isArray(refusals) ? refusals : []
}

function removeFrom<Item>(list: Item[], item: Item): void {
  const at = list.indexOf(item)
  if (at !== -1) list.splice(at, 1)
}

/** Connects, greets, secures and authenticates. Throws what the server or the network said. */
async function connect(
  account: SmtpAccount,
  attempt: Attempt,
  addressesOf: AddressesOf | undefined,
): Promise<SMTPConnection> {
  const { auth, ...settings } = await smtpSettings(account, addressesOf)
  const connection = new SMTPConnection({ ...settings, socketTimeout: silenceMs })
  attempt.stop = () => connection.close()
  if (attempt.isOver) throw new Error('The time limit was reached')
  try {
    await new Promise<void>((resolve, reject) => {
      connection.once('error', reject)
      connection.once('end', () => reject(new Error('The server closed the connection')))
      connection.connect((failed) => {
        if (failed) reject(failed)
        else if (auth === undefined) resolve()
        else logIn(connection, auth, (error) => (error ? reject(error) : resolve()))
      })
    })
  } catch (error) {
    connection.close()
    throw error
  }
  return connection
}

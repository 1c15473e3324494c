// A body whose response was sent before it was read is first read and discarded: a connection closed with unread bytes
// is reset, and a client that is still sending sees a broken pipe instead of the response.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { announcedBytes } from './read-body.ts'

/**
 * Beyond what was already read. More than the largest body of any route: a client that is over by mistake gets its
 * response.
 */
const discardBytesMax = 32 * 1024 * 1024
/** Each costs some microseconds, however little it holds. */
const discardPiecesMax = 2_000
/** A caller who sends slowly is answered nevertheless, and cut off. */
const discardMsMax = 5_000
/** So is one who announced a body and sends none of it. */
const silenceMsMax = 1_000

/** After an early response: how long a client has to read it, while further bytes are discarded. */
const lingerMs = 2_000

/**
 * Only if the connection is closed with the response, as after 413. Otherwise Node reads the rest after the response: all
 * of it, in however many pieces. So after a body that does not say how long it is the connection is closed as well.
 */
export function installDiscard(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    // Undefined where there is no connection.
    const isRead = request.raw.complete !== false
    if (!isRead && announcedBytes(request) === undefined) reply.header('connection', 'close')
    if (isRead || !closes(reply)) done(null, payload)
    else
      discardBody(request.raw).then(() => {
        if (!request.raw.complete) linger(request.raw.socket)
        done(null, payload)
      })
  })
}

const closes = (reply: FastifyReply): boolean => reply.getHeader('connection') === 'close' || !reply.raw.shouldKeepAlive

/** Resolves when the body has ended, its sender is gone, or enough was discarded. */
function discardBody(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let discarded = 0
    let pieces = 0
    const end = (): void => {
      clearTimeout(deadline)
      clearTimeout(silence)
      request.off('data', count).off('end', end).off('error', end).off('close', end)
      resolve()
    }
    const deadline = setTimeout(end, discardMsMax)
    const silence = setTimeout(end, silenceMsMax)
    const count = (bytes: Buffer): void => {
      discarded += bytes.length
      pieces += 1
      silence.refresh()
      if (discarded > discardBytesMax) end()
      else if (pieces > discardPiecesMax) {
        // Nothing more is read, also while the answer is.
        request.pause()
        end()
      }
    }
    request.on('data', count).on('end', end).on('error', end).on('close', end)
    request.resume()
  })
}

/** Node would destroy the socket as soon as the answer is written, which resets it while its peer still sends. */
function linger(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end()
    const cut = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(cut))
  }
}

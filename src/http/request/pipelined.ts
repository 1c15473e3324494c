// Requests that a client sends without waiting for answers: of each connection a few are worked on at once, the others wait.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Of one connection, beside the request whose answer is being sent. Clients that pipeline at all send fewer. */
export const pipelinedMax = 8
/** With so many waiting, nothing more is read of the connection. What was read already may hold a thousand more. */
const waitingMax = 32

interface Waiting {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** The requests of one connection that came before the answers to those before them. */
interface Line {
  /** Their answers, which may have no connection yet. */
  readonly working: Set<ServerResponse>
  readonly waiting: Waiting[]
  isPaused: boolean
}

/** To be called before anything else listens for requests. Of requests that come one by one it costs a look at a member. */
export function limitPipelining(server: Server): void {
  const [handle] = server.listeners('request') as RequestListener[]
  if (handle === undefined) throw new Error('The server handles no requests yet')
  server.off('request', handle)
  const lines = new WeakMap<Socket, Line>()

  function lineOf(socket: Socket): Line {
    const known = lines.get(socket)
    if (known !== undefined) return known
    const line: Line = { working: new Set(), waiting: [], isPaused: false }
    lines.set(socket, line)
    // Node resumes a connection whenever an answer is out.
    socket.on('resume', () => {
      if (line.isPaused) socket.pause()
    })
    socket.once('close', () => {
      for (const response of line.working) endUnsent(response)
    })
    return line
  }

  function begin(socket: Socket, line: Line, { request, response }: Waiting): void {
    line.working.add(response)
    response.once('close', () => {
      line.working.delete(response)
      beginNext(socket, line)
    })
    handle?.call(server, request, response)
  }

  function beginNext(socket: Socket, line: Line): void {
    // Of a connection that is gone no one waits for an answer.
    if (socket.destroyed) line.waiting.length = 0
    while (line.working.size < pipelinedMax) {
      const next = line.waiting.shift()
      if (next === undefined) break
      begin(socket, line, next)
    }
    if (!line.isPaused || line.waiting.length >= waitingMax) return
    line.isPaused = false
    socket.resume()
  }

  server.on('request', (request, response) => {
    // A response has its connection unless another one has it: nearly every request is the only one.
    if (response.socket !== null) return handle.call(server, request, response)
    const { socket } = request
    const line = lineOf(socket)
    if (line.working.size < pipelinedMax && line.waiting.length === 0) return begin(socket, line, { request, response })
    line.waiting.push({ request, response })
    if (line.waiting.length < waitingMax || line.isPaused) return
    line.isPaused = true
    socket.pause()
  })
}

/**
 * When a connection closes, Node says nothing to answers that do not have it yet: whatever waits for their end, and holds something
 * until then, would wait for ever.
 */
function endUnsent(response: ServerResponse): void {
  if (response.socket !== null || response.destroyed) return
  response.destroyed = true
  response.emit('close')
}

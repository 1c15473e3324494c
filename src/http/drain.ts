// Closes the server in order: requests in progress are finished, idle connections are closed at once.
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Log } from '../world/log.ts'

/** A caller who does not finish a request must not hold up the stop of everything else. */
const drainTimeoutMs = 15_000
/** A connection becomes idle when its last response is sent; Node closes idle ones only at the first look. */
const lookEveryMs = 50

/** To be called before the server listens; the answer closes it. */
export function prepareDrain(app: FastifyInstance, log: Log): () => Promise<void> {
  const open = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  const closeIdle = (): void => {
    app.server.closeIdleConnections()
    // Node considers a connection that never sent a byte (a browser's preconnect) to have a request in progress.
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  }
  return async () => {
    const look = setInterval(closeIdle, lookEveryMs)
    const cut = setTimeout(() => {
      log.warn({ drainTimeoutMs, connections: open.size }, 'Requests still in progress were cut off')
      app.server.closeAllConnections()
    }, drainTimeoutMs)
    try {
      await app.close()
    } finally {
      clearInterval(look)
      clearTimeout(cut)
    }
  }
}

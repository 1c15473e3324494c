// Requests that offer another protocol than WebSocket are answered as if they had not: HTTP lets a server pass over the offer.
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'

/** Headers that only the offer needs. */
const ofTheOffer = new Set(['upgrade', 'http2-settings', 'connection'])

/**
 * Whoever listens to upgrades gets all of them from Node, with a socket that is not parsed any more. Clients that offer h2c
 * with their first request (such as Java's) would wait for ever. The request is written down again, without the offer, and
 * read as that of a new connection.
 */
export function serveWithoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`]
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const [name = '', value = ''] = request.rawHeaders.slice(index, index + 2)
    if (!ofTheOffer.has(name.toLowerCase())) lines.push(`${name}: ${value}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit('connection', socket)
}

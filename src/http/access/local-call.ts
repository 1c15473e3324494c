// Whether a call comes from this very machine, and was meant for it.
import type { IncomingMessage } from 'node:http'

const loopback = /^(?:::ffff:)?127\.|^::1$/
const localHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i
/** Whoever adds them passes on calls of others. */
const proxyHeaders = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

/** The name that was called counts too: the page of another site can make its own name lead to this machine. */
export function isLocalCall({ socket, headers }: IncomingMessage): boolean {
  return (
    loopback.test(socket.remoteAddress ?? '') &&
    localHost.test(headers.host ?? '') &&
    proxyHeaders.every((name) => headers[name] === undefined)
  )
}

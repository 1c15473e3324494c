// The mail server: takes every message that arrives up to its final dot.
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'
import type { Answer } from './behaviour.ts'
import type { Receipts } from './record.ts'

/** The last words of every body: a message without them was cut. */
const lastWords = '[end]'

export async function startSmtp(receipts: Receipts, next: () => Answer): Promise<number> {
  const sockets = new Map<string, Socket>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    onData(stream, session, callback) {
      const parts: Buffer[] = []
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', async () => {
        const text = Buffer.concat(parts).toString('utf8').replaceAll('=\r\n', '').replaceAll('=3D', '=')
        if (!text.includes(lastWords)) return
        const answer = next()
        const subject = /^subject: (.*)$/im.exec(text)?.[1] ?? ''
        const to = session.envelope.rcptTo.map(({ address }) => address)
        if (answer.kind === 'take' || ('taken' in answer && answer.taken)) {
          receipts.add('smtp', { channel: 'email', to, subject, body: text })
        }
        if (answer.kind === 'take') {
          await sleep(answer.afterMs)
          callback()
        } else if (answer.kind === 'busy') {
          callback(Object.assign(new Error('try later'), { responseCode: 451 }))
        } else if (answer.kind !== 'hang') {
          const socket = sockets.get(`${session.remoteAddress}:${session.remotePort}`)
          if (answer.kind === 'garbage') socket?.write('?!\r\n')
          socket?.destroy()
        }
      })
    },
  })
  server.on('error', () => {})
  server.server.on('connection', (socket: Socket) => {
    const name = `${socket.remoteAddress}:${socket.remotePort}`
    sockets.set(name, socket)
    socket.on('close', () => sockets.delete(name))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.server.address() as AddressInfo).port
}

// A mail server that is a script: it answers line by line, up to a point of the test's choosing.
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import type { TestContext } from 'node:test'

/** Calls `answer` with each line that arrives, those of the content among them. */
export async function startScript(t: TestContext, answer: (line: string, socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.write('220 script\r\n')
    let rest = ''
    socket.setEncoding('utf8').on('data', (chunk) => {
      rest += chunk
      for (let end = rest.indexOf('\r\n'); end !== -1; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end)
        rest = rest.slice(end + 2)
        answer(line, socket)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return String((server.address() as AddressInfo).port)
}

export const polite = (line: string, socket: Socket): void =>
  void socket.write(line === 'DATA' ? '354 go on\r\n' : '250 fine\r\n')

export interface Conversation {
  readonly port: string
  /** All lines of all connections, in order; of a content only those that `onContent` was given. */
  readonly lines: string[]
  readonly sockets: Set<Socket>
}

/** Polite up to the content; what is answered to its lines, and to the dot, is the test's choice. */
export async function startConversation(
  t: TestContext,
  onContent: (line: string, socket: Socket) => void = (line, socket) => {
    if (line === '.') polite(line, socket)
  },
): Promise<Conversation> {
  const lines: string[] = []
  const sockets = new Set<Socket>()
  const reading = new Set<Socket>()
  const port = await startScript(t, (line, socket) => {
    lines.push(line)
    sockets.add(socket)
    if (!reading.has(socket)) {
      if (line === 'DATA') reading.add(socket)
      polite(line, socket)
      return
    }
    if (line === '.') reading.delete(socket)
    onContent(line, socket)
  })
  return { port, lines, sockets }
}

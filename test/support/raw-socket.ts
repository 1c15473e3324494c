// A connection that says exactly what the test says, for what no HTTP client would send.
import { connect } from 'node:net'
import type { TestApp, TestReply } from './app.ts'

/** Listens on a free port and returns it. */
export async function listen(app: TestApp): Promise<number> {
  await app.app.listen({ port: 0, host: '127.0.0.1' })
  const address = app.app.server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The server does not listen on a port')
  return address.port
}

export interface RawConnection {
  write(bytes: string | Buffer): void
  /** Everything that was answered, once the server has closed the connection. */
  closed: Promise<string>
}

export function openRaw(port: number): RawConnection {
  const chunks: Buffer[] = []
  const socket = connect(port, '127.0.0.1')
  // A server that turns a request away closes while we may still be sending.
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const closed = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')))
  })
  return { write: (bytes) => void socket.write(bytes), closed }
}

/** Sends the bytes and reads the one answer; the request must make the server close the connection. */
export async function sendRaw(port: number, bytes: string | Buffer): Promise<TestReply> {
  const connection = openRaw(port)
  connection.write(bytes)
  return readAnswer(await connection.closed)
}

export function readAnswer(answer: string): TestReply {
  const bodyAt = answer.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = answer.slice(0, bodyAt).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const text = answer.slice(bodyAt + 4)
  const isJson = String(headers['content-type'] ?? '').includes('json') && text !== ''
  return { status: Number(statusLine.split(' ')[1]), headers, body: isJson ? JSON.parse(text) : undefined, text }
}

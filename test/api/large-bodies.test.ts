// Bodies over the limit: their sender gets 413 with the error body, not a broken pipe, however they are sent.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { listen, readAnswer } from '../support/raw-socket.ts'

const mebibyte = 1024 * 1024
const limit = mebibyte
const path = '/v1/tenants'
const piece = Buffer.alloc(64 * 1024, ' ')

let app: TestApp
let port: number
before(async () => {
  app = await createTestApp()
  port = await listen(app)
})
after(() => app.close())

type Way = 'content-length' | 'chunked'
const ways: readonly Way[] = ['content-length', 'chunked']
/** By how much a body is over the limit, where all of it is read and thrown away. */
const excesses: Readonly<Record<string, number>> = { 'a byte': 1, '3 MiB': 3 * mebibyte, '25 MiB': 25 * mebibyte }
/** Far more than is thrown away. */
const endless = 400 * mebibyte

function assertTooLarge(status: number, body: Json): void {
  assert.equal(status, 413)
  assert.equal(body.statusCode, 413)
  assert.equal(body.path, path)
  assert.equal(body.message, 'The body is larger than this endpoint allows')
}

interface Sent {
  readonly answer: string
  /** Bytes of the body that were handed to the connection. */
  readonly bytes: number
  readonly error: NodeJS.ErrnoException | undefined
}

/** Sends first and listens afterwards, as plain clients do: `reads` from the beginning only if asked. */
function send(bytes: number, way: Way, { reads }: { reads: boolean }): Promise<Sent> {
  const length = way === 'chunked' ? 'transfer-encoding: chunked' : `content-length: ${bytes}`
  const socket = connect(port, '127.0.0.1')
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ApiKey ${app.developmentKey}\r\ncontent-type: application/json\r\n${length}\r\n\r\n`
  const chunks: Buffer[] = []
  let error: NodeJS.ErrnoException | undefined
  let sent = 0
  const writePiece = (size: number): boolean => {
    sent += size
    const part = piece.subarray(0, size)
    if (way === 'content-length') return socket.write(part)
    return socket.write(Buffer.concat([Buffer.from(`${size.toString(16)}\r\n`), part, Buffer.from('\r\n')]))
  }
  const goOn = (): void => {
    while (sent < bytes && !socket.destroyed) if (!writePiece(Math.min(piece.length, bytes - sent))) return
    socket.off('drain', goOn)
    if (way === 'chunked') socket.write('0\r\n\r\n')
    socket.on('data', (chunk) => void chunks.push(chunk))
  }
  if (reads) socket.on('data', (chunk) => void chunks.push(chunk))
  socket.on('drain', goOn)
  socket.on('error', (one) => {
    error = one
  })
  socket.write(head)
  goOn()
  return new Promise((resolve) => {
    socket.on('close', () => resolve({ answer: Buffer.concat(chunks).toString('utf8'), bytes: sent, error }))
  })
}

for (const way of ways) {
  for (const [name, excess] of Object.entries(excesses)) {
    test(`${name} over the limit, ${way}: who sends all before listening finds 413, and no error`, async () => {
      const { answer, bytes, error } = await send(limit + excess, way, { reads: false })
      assert.equal(error, undefined)
      assert.equal(bytes, limit + excess)
      const reply = readAnswer(answer)
      assertTooLarge(reply.status, reply.body)
      assert.equal(reply.headers['connection'], 'close')
    })

    test(`${name} over the limit, ${way}: fetch gets 413`, async () => {
      const answer = await fetchLarge(limit + excess, way)
      assertTooLarge(answer.status, await answer.json())
    })
  }

  test(`far over the limit, ${way}: it is cut off after 32 MiB, with 413 before`, async () => {
    const { answer, bytes } = await send(endless, way, { reads: true })
    const reply = readAnswer(answer)
    assertTooLarge(reply.status, reply.body)
    // What the kernel holds in its buffers is handed over too.
    assert.ok(bytes > 33 * mebibyte && bytes < 100 * mebibyte, `${bytes} bytes`)
  })

  test(`far over the limit, ${way}: fetch gets 413`, async () => {
    const answer = await fetchLarge(endless, way)
    assertTooLarge(answer.status, await answer.json())
  })
}

function fetchLarge(bytes: number, way: Way): Promise<Response> {
  const headers = { authorization: `ApiKey ${app.developmentKey}`, 'content-type': 'application/json' }
  const body = way === 'content-length' ? new Blob(Array.from(pieces(bytes))) : streamOf(bytes)
  return fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
}

function* pieces(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= piece.length) yield piece.subarray(0, Math.min(piece.length, left))
}

function streamOf(bytes: number): ReadableStream<Uint8Array> {
  const parts = pieces(bytes)
  return new ReadableStream({
    pull: (controller) => {
      const { value, done } = parts.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
  })
}

test('who announces a large body and sends nothing is answered within seconds', async () => {
  const socket = connect(port, '127.0.0.1')
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ApiKey ${app.developmentKey}\r\ncontent-type: application/json\r\ncontent-length: ${endless}\r\n\r\n`,
  )
  const begun = performance.now()
  const answer = await new Promise<string>((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('utf8')
    })
    socket.on('close', () => resolve(text))
  })
  const reply = readAnswer(answer)
  assertTooLarge(reply.status, reply.body)
  assert.ok(performance.now() - begun < 15_000)
})

test('a large body on a connection that the caller closes is answered with whatever is wrong with it', async () => {
  const bytes = 8 * mebibyte
  const socket = connect(port, '127.0.0.1')
  let error: Error | undefined
  let text = ''
  socket.on('error', (one) => {
    error = one
  })
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`,
  )
  for (const part of pieces(bytes)) socket.write(part)
  socket.on('data', (chunk) => {
    text += chunk.toString('utf8')
  })
  await new Promise((resolve) => socket.on('close', resolve))
  assert.equal(error, undefined)
  assert.equal(readAnswer(text).status, 401)
})

// Pipelined requests: a few of a connection at once, each begun when there is a place, and none of a connection that is gone.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { limitPipelining, pipelinedMax } from './pipelined.ts'

async function scene() {
  const begun: { path: string; answer: ServerResponse }[] = []
  const server = createServer((request, answer) => {
    begun.push({ path: request.url ?? '', answer })
  })
  limitPipelining(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  const until = async (isSo: () => boolean): Promise<void> => {
    for (let turns = 0; !isSo(); turns += 1) {
      assert.ok(turns < 100_000, 'waited in vain')
      await nextTurn()
    }
  }
  const close = async (): Promise<void> => {
    socket.destroy()
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return { server, begun, socket, until, close }
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`
const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

test('so many are begun, and another one whenever one is answered', async () => {
  const { begun, socket, until, close } = await scene()
  const atOnce = pipelinedMax + 1
  socket.write(
    numbers(100)
      .map((at) => get(`/${at}`))
      .join(''),
  )
  await until(() => begun.length === atOnce)
  for (const _ of numbers(20)) await nextTurn()
  assert.equal(begun.length, atOnce)
  let answered = ''
  socket.on('data', (bytes: Buffer) => {
    answered += bytes.toString()
  })
  for (let at = 0; at < 100; at += 1) {
    await until(() => begun.length > at)
    assert.ok(begun.length <= at + atOnce, `${begun.length} begun, ${at} answered`)
    begun[at]?.answer.end(`(${begun[at]?.path})`)
  }
  await until(() => answered.includes('(/99)'))
  const order = [...answered.matchAll(/\(\/(\d+)\)/g)].map(([, number]) => Number(number))
  assert.deepEqual(order, numbers(100))
  await close()
})

test('a connection of which many wait is read no further, and goes on once they were begun', async () => {
  const { server, begun, socket, until, close } = await scene()
  const connections: { bytesRead: number }[] = []
  server.on('request', ({ socket: own }) => {
    if (!connections.includes(own)) connections.push(own)
  })
  const filler = `x: ${'y'.repeat(1_000)}\r\n`
  const count = 4_000
  const all = numbers(count).map((at) => `GET /${at} HTTP/1.1\r\nhost: a\r\n${filler}\r\n`)
  socket.write(all.join(''))
  await until(() => begun.length > pipelinedMax)
  for (const _ of numbers(200)) await nextTurn()
  const read = connections[0]?.bytesRead ?? Number.NaN
  assert.ok(read < 300_000, `${read} bytes were read`)
  for (let at = 0; at < count; at += 1) {
    await until(() => begun.length > at)
    begun[at]?.answer.end()
  }
  assert.equal(begun[count - 1]?.path, `/${count - 1}`)
  await close()
})

test('what waits on a connection that is gone is never begun', async () => {
  const { begun, socket, until, close } = await scene()
  socket.write(
    numbers(20)
      .map((at) => get(`/${at}`))
      .join(''),
  )
  await until(() => begun.length > pipelinedMax)
  socket.destroy()
  await until(() => begun[0]?.answer.destroyed === true)
  for (const { answer } of begun) answer.end()
  for (const _ of numbers(20)) await nextTurn()
  assert.equal(begun.length, pipelinedMax + 1)
  await close()
})

test('answers that never had the connection end with it, each once', async () => {
  const { begun, socket, until, close } = await scene()
  socket.write(
    numbers(4)
      .map((at) => get(`/${at}`))
      .join(''),
  )
  await until(() => begun.length === 4)
  const ends = begun.map(() => 0)
  for (const [at, { answer }] of begun.entries()) {
    answer.on('close', () => {
      ends[at] = (ends[at] ?? 0) + 1
    })
  }
  // Written, and waiting for the answer before it.
  begun[2]?.answer.end('never sent')
  socket.destroy()
  await until(() => ends.every((count) => count > 0))
  for (const _ of numbers(20)) await nextTurn()
  assert.deepEqual(ends, [1, 1, 1, 1])
  assert.ok(begun.every(({ answer }) => answer.destroyed))
  await close()
})

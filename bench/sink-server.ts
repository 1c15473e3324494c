// Stands in for an e-mail provider: takes every POST, remembers which number its subject had and when it came. Costs little.
import { createServer, type Socket } from 'node:net'

const answer = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}'
/** The number of each message, and when it arrived on the clock that all processes of a machine share, in milliseconds. */
let arrivals: [number: number, atMs: number][] = []

/** How long each message takes to be answered; GET /latency/200 sets it. */
let latencyMs = 0

const clockMs = (): number => Number(process.hrtime.bigint()) / 1e6

function answerTo(request: string): string {
  if (request.startsWith('POST /postmark')) return postmarkAnswer(request)
  if (request.startsWith('POST')) {
    arrivals.push([Number(/"subject":"[^"]*?#(\d+)/.exec(request)?.[1] ?? -1), clockMs()])
    return answer
  }
  // An integration's check, or the bench that takes what has arrived.
  if (!request.startsWith('GET')) return answer.slice(0, -2)
  const latency = /^GET \/latency\/(\d+)/.exec(request)
  if (latency) {
    latencyMs = Number(latency[1])
    return answer
  }
  const isCount = request.startsWith('GET /count')
  const body = JSON.stringify(isCount ? arrivals.length : arrivals)
  if (!isCount) arrivals = []
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

/** One result a message; a list of them where it was asked for many. */
function postmarkAnswer(request: string): string {
  const numbers = [...request.matchAll(/"Subject":"[^"]*?#(\d+)/g)].map(([, number]) => Number(number))
  const atMs = clockMs()
  for (const number of numbers) arrivals.push([number, atMs])
  const results = numbers.map((number) => ({ ErrorCode: 0, Message: 'OK', MessageID: `sink-${number}-${atMs}` }))
  const body = JSON.stringify(request.startsWith('POST /postmark/email/batch') ? results : results[0])
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

function serve(socket: Socket): void {
  let received = ''
  socket.setNoDelay(true)
  socket.setEncoding('latin1')
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk: string) => {
    received += chunk
    for (;;) {
      const headersEnd = received.indexOf('\r\n\r\n')
      if (headersEnd < 0) return
      const length = /content-length: (\d+)/i.exec(received.slice(0, headersEnd))
      const end = headersEnd + 4 + Number(length?.[1] ?? 0)
      if (received.length < end) return
      const request = received.slice(0, end)
      received = received.slice(end)
      const text = answerTo(request)
      // A message is counted when it comes; only its answer is late.
      if (latencyMs > 0 && request.startsWith('POST')) setTimeout(() => socket.write(text), latencyMs)
      else socket.write(text)
    }
  })
}

const server = createServer(serve)
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`running at http://localhost:${typeof address === 'object' ? address?.port : ''}\n`)
})
process.once('SIGTERM', () => process.exit(0))

// The providers of a run, as a process that is never killed: an HTTP server, a mail server, and a port for commands.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Behaviour } from './behaviour.ts'
import { behaviours, nextAnswer } from './behaviour.ts'
import { answerProviderCall } from './http.ts'
import { Receipts } from './record.ts'
import { startSmtp } from './smtp.ts'

const receipts = new Receipts()
let behaviour: Behaviour = 'normal'
const next = () => nextAnswer(behaviour)

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://sink')
  response.on('error', () => {})
  if (url.pathname === '/receipts') {
    const list = receipts.from(Number(url.searchParams.get('from')))
    response.end(JSON.stringify({ receipts: list, unreadable: receipts.unreadable }))
    return
  }
  if (url.pathname === '/behaviour') {
    behaviour = behaviours.find((one) => one === url.searchParams.get('is')) ?? 'normal'
    response.end('{}')
    return
  }
  answerProviderCall(request, response, receipts, next).catch(() => request.socket.destroy())
})
// A caller keeps its connection as long as it likes.
server.keepAliveTimeout = 0
server.requestTimeout = 0
const smtpPort = await startSmtp(receipts, next)
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ httpPort: (server.address() as AddressInfo).port, smtpPort })}\n`)
})
// It ends with the run that started it, however that ends.
process.stdin.resume().on('end', () => process.exit(0))

// One HTTP call per mail, over connections that stay open.
import { Agent, request } from 'node:http'

export function createMailer(url, connections) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const { hostname, port, pathname } = new URL(url)
  const send = (id, mail) =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify(mail)
      const call = request({
        agent,
        hostname,
        port,
        path: pathname,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'idempotency-key': id,
        },
      })
      call.on('error', reject)
      call.on('response', (answer) => {
        answer.on('error', reject)
        answer.on('end', () =>
          answer.statusCode < 300 ? resolve() : reject(new Error(`The provider answered ${answer.statusCode}`)),
        )
        answer.resume()
      })
      call.end(body)
    })
  return { send, close: () => agent.destroy() }
}

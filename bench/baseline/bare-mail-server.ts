// The yardstick for latency: a bare HTTP server that inserts a row and calls the provider, and nothing else.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import pg from 'pg'

const pool = new pg.Pool({ ...JSON.parse(process.env['BENCH_CONNECTION'] ?? '{}'), max: 10 })
await pool.query(
  'create table notifications (id uuid primary key, subscriber_id text not null, payload jsonb not null, created_at timestamptz not null)',
)
const sinkUrl = process.env['BENCH_SINK_URL'] ?? ''

async function send(text: string): Promise<void> {
  const { to, payload } = JSON.parse(text) as { to: { subscriberId: string }; payload: { order: { id: number } } }
  await pool.query({
    name: 'insert',
    text: 'insert into notifications values ($1, $2, $3, $4)',
    values: [randomUUID(), to.subscriberId, JSON.stringify(payload), new Date()],
  })
  const answer = await fetch(sinkUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      from: 'bench@example.com',
      to: `${to.subscriberId}@example.com`,
      subject: `#${payload.order.id}`,
      html: `<p>Hello ${to.subscriberId},</p><p>order ${payload.order.id} is on its way.</p>`,
    }),
  })
  await answer.text()
}

const server = createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => {
    text += chunk
  })
  request.once('end', async () => {
    await send(text)
    response.writeHead(201, { 'content-type': 'application/json', 'content-length': 2 })
    response.end('{}')
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`running at http://localhost:${typeof address === 'object' ? address?.port : ''}\n`)
})
process.once('SIGTERM', async () => {
  server.close()
  server.closeAllConnections()
  await pool.end()
})

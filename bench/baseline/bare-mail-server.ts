// The yardstick: a bare HTTP server that inserts a row per event, answers and calls the provider, and nothing else. No keys, no limits,
// no templates, no preferences, no retries, no record of what became of a call: whoever does more takes more.
import { randomBytes } from 'node:crypto'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import pg from 'pg'

interface Event {
  readonly to: { readonly subscriberId: string }
  readonly payload: { readonly order: { readonly id?: number; readonly number?: number } }
}

/** As many as Posthorn gives a provider of 200 ms. */
const connectionsMax = 500

const pool = new pg.Pool({ ...JSON.parse(process.env['BENCH_CONNECTION'] ?? '{}'), max: 10 })
await pool.query(
  'create table if not exists notifications (id uuid primary key, subscriber_id text not null, payload jsonb not null, created_at timestamptz not null)',
)
const { hostname, port, pathname } = new URL(process.env['BENCH_SINK_URL'] ?? '')
const agent = new Agent({ keepAlive: true, maxSockets: connectionsMax })
let open = 0

async function insert(events: readonly Event[]): Promise<void> {
  const [only] = events
  if (events.length === 1 && only !== undefined) {
    const text = 'insert into notifications values ($1, $2, $3, $4)'
    await pool.query({ name: 'one', text, values: [...rowOf(only), new Date()] })
    return
  }
  const rows = events.map(rowOf)
  await pool.query({
    name: 'many',
    text: 'insert into notifications select id, who, payload::jsonb, now() from unnest($1::uuid[], $2::text[], $3::text[]) as r (id, who, payload)',
    values: [0, 1, 2].map((column) => rows.map((row) => row[column])),
  })
}

const rowOf = ({ to, payload }: Event): string[] => [timedId(), to.subscriberId, JSON.stringify(payload)]

/** A UUIDv7: ids in the order of time fall on the same pages of an index. */
function timedId(): string {
  const hex = Date.now().toString(16).padStart(12, '0') + randomBytes(10).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function send({ to, payload: { order } }: Event): void {
  const number = order.number ?? order.id
  const body = JSON.stringify({
    from: 'bench@example.com',
    to: `${to.subscriberId}@example.com`,
    subject: `#${number}`,
    html: `<p>Hello ${to.subscriberId},</p><p>order ${number} is on its way.</p>`,
  })
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const call = request({ agent, hostname, port, path: pathname, method: 'POST', headers })
  open += 1
  call.on('close', () => {
    open -= 1
  })
  call.on('response', (answer) => answer.resume())
  call.on('error', (error) => process.stderr.write(`${error.message}\n`))
  call.end(body)
}

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
}

async function take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  // As the hand-made service: how many calls are still under way.
  if (incoming.method === 'GET') return answer(response, 200, JSON.stringify({ open }))
  let text = ''
  for await (const chunk of incoming.setEncoding('utf8')) text += chunk
  const body = JSON.parse(text) as Event | { readonly events: readonly Event[] }
  const events = 'events' in body ? body.events : [body]
  await insert(events)
  answer(response, 201, '{}')
  for (const event of events) send(event)
}

const server = createServer((incoming, response) => void take(incoming, response))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`running at http://localhost:${typeof address === 'object' ? address?.port : ''}\n`)
})
process.once('SIGTERM', async () => {
  server.close()
  server.closeAllConnections()
  agent.destroy()
  await pool.end()
})

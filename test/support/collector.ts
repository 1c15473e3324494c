// An OpenTelemetry collector for tests: a real HTTP server that keeps the spans it is handed.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Json } from './app.ts'

export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status?: { readonly code: number }
  readonly attributes: Readonly<Record<string, unknown>>
}

export class Collector {
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Json }[] = []
  /** What it answers next; `never`: nothing at all. */
  answer: number | 'never' = 200
  /** Everything it was sent, to be searched. */
  text = ''
  readonly #server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const { answer } = this
    if (answer === 200) this.text += text
    this.requests.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(text) })
    if (answer !== 'never') response.writeHead(answer, { 'content-type': 'application/json' }).end('{}')
  })

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** Forgets what it was sent so far. */
  clear(): void {
    this.requests.length = 0
    this.text = ''
  }

  get spans(): CollectedSpan[] {
    return this.requests.flatMap(({ body }) =>
      body.resourceSpans.flatMap((resource: Json) =>
        resource.scopeSpans.flatMap((scope: Json) => scope.spans.map(plainSpan)),
      ),
    )
  }

  /** The only one of that name. */
  span(name: string): CollectedSpan {
    const found = this.spans.filter((span) => span.name === name)
    assert.equal(found.length, 1, `${found.length} spans are called ${name}: ${this.spans.map((one) => one.name)}`)
    return found[0] as CollectedSpan
  }
}

const plainSpan = (span: Json): CollectedSpan => ({
  ...span,
  attributes: Object.fromEntries(
    span.attributes.map(({ key, value }: Json) => {
      const { intValue, ...others } = value
      return [key, intValue === undefined ? Object.values(others)[0] : Number(intValue)]
    }),
  ),
})

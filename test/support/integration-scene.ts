// Accounts for tests of integrations: bodies that are complete, a network that leads to a local server.
import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { createOutboundFetch } from '../../src/world/outbound/outbound-fetch.ts'
import type { Json, TestApp } from './app.ts'
import type { FakeWorld } from './fake-world.ts'

export const sendgridBody = {
  providerId: 'sendgrid',
  channel: 'email',
  credentials: { apiKey: 'SG.top-secret', from: 'hello@example.com' },
}
export const twilioBody = {
  providerId: 'twilio',
  channel: 'sms',
  credentials: { accountSid: 'ACtest', token: 'top-secret-token', from: '+14155550100' },
}

export async function createIntegration(app: TestApp, body: object, key?: string): Promise<Json> {
  const reply = await app.call('POST', '/v1/integrations', { body, ...(key === undefined ? {} : { key }) })
  assert.equal(reply.status, 201, reply.text)
  return reply.body
}

/** A vendor on this machine; resolves with its address. */
export async function startVendor(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Lets the world's calls really go out. Those to a vendor whose host is fixed are led to `standIn`, after `asked` saw them. */
export function openNetwork(world: FakeWorld, standIn?: { address: string; asked: string[] }): void {
  const fetch = createOutboundFetch({ allow: ['127.0.0.1'] })
  world.onFetch = async (request, options) => {
    if (standIn === undefined) return fetch(request, options)
    const url = new URL(request.url)
    standIn.asked.push(`${request.method} ${url.origin}${url.pathname}`)
    const body = await request.text()
    const headers = request.headers
    return fetch(
      new Request(`${standIn.address}${url.pathname}${url.search}`, {
        method: request.method,
        headers,
        ...(body === '' ? {} : { body }),
      }),
      options,
    )
  }
}

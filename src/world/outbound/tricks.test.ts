// Addresses that callers, recipients and events choose: whatever way they are written, nothing private is connected to.
import assert from 'node:assert/strict'
import type { LookupFunction } from 'node:net'
import { isIP, Socket } from 'node:net'
import { mock, test } from 'node:test'
import { addresses, names, resolvers, urls } from '../../../test/support/ssrf-tricks.ts'
import { kindOfAddress } from './address.ts'
import type { ResolveName } from './address-guard.ts'
import { OutboundError } from './outbound-error.ts'
import { createOutboundFetch } from './outbound-fetch.ts'

interface Asked {
  readonly host?: string
  readonly lookup: LookupFunction
}

const publicAddress = '93.184.215.14'
const toPublic: ResolveName = async () => [{ address: publicAddress, family: 4 }]

/** Runs the work with sockets that connect to nothing; the addresses they would have connected to. */
async function connectedTo(work: () => Promise<unknown>): Promise<string[]> {
  const connected: string[] = []
  const connect = mock.method(
    Socket.prototype,
    'connect',
    function (this: Socket, ...args: readonly (Asked | readonly [Asked])[]) {
      const options = [args[0]].flat()[0] as Asked
      const host = String(options.host)
      const refuse = (error: Error | null, found: string | readonly { readonly address: string }[]): void => {
        if (error === null)
          connected.push(...(typeof found === 'string' ? [found] : found.map(({ address }) => address)))
        this.destroy(error ?? Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))
      }
      if (isIP(host) !== 0) process.nextTick(refuse, null, host)
      else options.lookup(host, { all: true }, refuse)
      return this
    },
  )
  try {
    await work()
  } finally {
    connect.mock.restore()
  }
  return connected
}

/** The error of a call. */
async function refusal(url: string, resolve: ResolveName = toPublic): Promise<unknown> {
  const fetch = createOutboundFetch({ allow: [], resolve })
  try {
    await fetch({ url, method: 'POST', headers: {}, body: '{}' })
  } catch (error) {
    return error
  }
  return undefined
}

test('there are at least sixty tricks, and none stands there twice', () => {
  const all = [...addresses, ...names, ...urls, ...Object.keys(resolvers)]
  assert.ok(all.length >= 60, `${all.length}`)
  assert.equal(new Set(all).size, all.length)
})

test('a public address is connected to, so that what follows proves something', async () => {
  assert.deepEqual(await connectedTo(() => refusal('https://example.com/')), [publicAddress])
  assert.deepEqual(await connectedTo(() => refusal(`https://${publicAddress}/`)), [publicAddress])
})

for (const [what, hosts] of Object.entries({ address: addresses, name: names })) {
  test(`no spelling of a private ${what} is connected to`, async () => {
    const open: string[] = []
    for (const host of hosts) {
      let error: unknown
      const connected = await connectedTo(async () => {
        error = await refusal(`https://${host}/`)
      })
      const isRefused = error instanceof OutboundError && error.kind === 'refused-address'
      if (connected.length > 0 || !(isRefused || error instanceof TypeError))
        open.push(`${host}: ${connected} ${error}`)
    }
    assert.deepEqual(open, [])
  })
}

test('no way of writing an address around its host gets past the guard', async () => {
  const open: string[] = []
  for (const url of urls) {
    let error: unknown
    const connected = await connectedTo(async () => {
      error = await refusal(url)
    })
    const isRefused = error instanceof OutboundError && error.kind === 'refused-address'
    if (connected.length > 0 || !(isRefused || error instanceof TypeError)) open.push(`${url}: ${connected} ${error}`)
  }
  assert.deepEqual(open, [])
})

test('a name is connected to by the very address that was checked, however often its answer changes', async () => {
  for (const [what, answers] of Object.entries(resolvers)) {
    let asked = 0
    const resolve: ResolveName = async () => {
      const answer = answers[asked % answers.length] ?? []
      asked += 1
      return answer.map((address) => ({ address, family: isIP(address) || 6 }))
    }
    const fetch = createOutboundFetch({ allow: [], resolve })
    const call = { url: 'https://rebinding.example.com/', method: 'POST', headers: {}, body: '{}' }
    for (let round = 0; round < 6; round += 1) {
      const before = asked
      const connected = await connectedTo(() => fetch(call).catch(() => undefined))
      assert.ok(asked - before <= 1, `${what}: asked ${asked - before} times for one call`)
      for (const address of connected) assert.equal(kindOfAddress(address), 'public', `${what}: ${address}`)
    }
    assert.ok(asked > 0)
  }
})

// Everything outside the service: vendors reached through one HTTP proxy, and a mail server. They obey a word in the message.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { bodyOf } from '../support/outbound-scene.ts'

export interface Received {
  /** The path that was called; `smtp` for mail that came to the mail server. */
  readonly path: string
  /** By what a repeat is recognised: the Idempotency-Key, or the Message-ID. */
  readonly key: string
  readonly text: string
}

export interface OutsideWorld {
  /** For HTTP_PROXY: every call to an http address arrives here. */
  readonly proxyUrl: string
  readonly smtpPort: string
  readonly received: Received[]
  close(): Promise<void>
}

/** An address for documentation (RFC 5737): whatever is sent there goes by the proxy, on every machine. */
export const vendorAddress = '192.0.2.1'

/** What the service must be started with to send everything here. */
export const outsideVariables = (world: OutsideWorld): Record<string, string> => ({
  HTTP_PROXY: world.proxyUrl,
  POSTHORN_PROXY_TARGET: 'name',
  POSTHORN_OUTBOUND_ALLOW: `127.0.0.1,${vendorAddress}`,
})

/**
 * With `obeys` a message that contains `mode-hold` is never answered, `mode-busy` and `mode-refuse` as they say; without it
 * everything is accepted.
 */
export async function startOutsideWorld({ obeys }: { obeys: boolean }): Promise<OutsideWorld> {
  const received: Received[] = []
  const modeOf = (text: string): string => (obeys ? (/mode-(hold|busy|refuse)/.exec(text)?.[1] ?? '') : '')
  const vendors = createServer(async (request, response) => {
    const text = await bodyOf(request).catch(() => '')
    const { pathname } = new URL(request.url ?? '/', 'http://proxy')
    received.push({ path: pathname, key: String(request.headers['idempotency-key']), text })
    const mode = modeOf(text)
    if (mode === 'hold') return
    const status = mode === 'busy' ? 503 : mode === 'refuse' ? 400 : 200
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"score":7}')
  })
  const mail = new SMTPServer({
    authOptional: true,
    logger: false,
    disableReverseLookup: true,
    closeTimeout: 100,
    onData: (stream, _session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        received.push({ path: 'smtp', key: /^message-id: (.*)$/im.exec(text)?.[1]?.trim() ?? '', text })
        const mode = modeOf(text)
        if (mode === 'hold') return
        const code = mode === 'busy' ? 451 : 550
        done(mode === '' ? null : Object.assign(new Error('As asked'), { responseCode: code }))
      })
    },
  })
  mail.on('error', () => {})
  await new Promise<void>((resolve) => vendors.listen(0, '127.0.0.1', resolve))
  await new Promise<void>((resolve) => mail.listen(0, '127.0.0.1', resolve))
  return {
    proxyUrl: `http://127.0.0.1:${(vendors.address() as AddressInfo).port}`,
    smtpPort: String((mail.server.address() as AddressInfo).port),
    received,
    close: async () => {
      vendors.closeAllConnections()
      await new Promise((resolve) => vendors.close(resolve))
      await new Promise<void>((resolve) => mail.close(() => resolve()))
    },
  }
}

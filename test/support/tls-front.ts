// A TLS front for the test database: answers PostgreSQL's SSLRequest, then passes everything on to the unix socket.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { TLSSocket } from 'node:tls'
import { keyInPem, makeAuthority, makeServerCertificate } from './certificates.ts'
import type { TestDatabase } from './database.ts'

export interface Certificates {
  readonly ca: string
  readonly otherCa: string
  /** For the names localhost and 127.0.0.1, signed by `ca`. */
  readonly certificate: string
  readonly key: string
}

export function makeCertificates(t: { after(work: () => void): void }): Certificates {
  const directory = mkdtempSync(join(tmpdir(), 'posthorn-tls-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  }
  const authority = makeAuthority()
  const server = makeServerCertificate(authority, ['localhost', '127.0.0.1'])
  return {
    ca: file('ca.pem', authority.certificate),
    otherCa: file('other-ca.pem', makeAuthority().certificate),
    certificate: file('server.pem', server.certificate),
    key: file('server.key', keyInPem(server)),
  }
}

export interface TlsFront {
  readonly port: number
  /** How many connections spoke TLS, and how many did not. */
  readonly seen: { tls: number; plain: number }
}

export async function startTlsFront(
  t: TestContext,
  database: TestDatabase,
  certificates: Certificates,
  options: { refuses?: boolean; wantsClientCertificate?: boolean } = {},
): Promise<TlsFront> {
  const seen = { tls: 0, plain: 0 }
  const behind = join(database.connection.host, `.s.PGSQL.${database.connection.port}`)
  const sockets = new Set<Socket>()
  const pass = (client: Socket, head?: Buffer) => {
    const server = connect(behind)
    if (head !== undefined) server.write(head)
    client.pipe(server).pipe(client)
    client.on('error', () => server.destroy())
    server.on('error', () => client.destroy())
    client.on('close', () => server.destroy())
  }
  const front = createServer((client) => {
    sockets.add(client)
    client.on('error', () => client.destroy())
    client.once('data', (head) => {
      // SSLRequest: length 8, code 80877103. https://www.postgresql.org/docs/18/protocol-message-formats.html
      if (head.length !== 8 || head.readInt32BE(4) !== 80_877_103) {
        seen.plain += 1
        pass(client, head)
        return
      }
      if (options.refuses) {
        client.write('N')
        return
      }
      client.write('S')
      const secure = new TLSSocket(client, {
        isServer: true,
        cert: readFileSync(certificates.certificate),
        key: readFileSync(certificates.key),
        ca: readFileSync(certificates.ca),
        requestCert: options.wantsClientCertificate === true,
        rejectUnauthorized: options.wantsClientCertificate === true,
      })
      secure.on('error', () => client.destroy())
      secure.once('secure', () => {
        seen.tls += 1
        pass(secure)
      })
    })
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    front.close()
  })
  const address = front.address()
  return { port: typeof address === 'object' && address !== null ? address.port : 0, seen }
}

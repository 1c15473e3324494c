// A front for the test database that can fall silent: connections stay open and nothing comes through, as behind a broken network.
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { TestDatabase } from './database.ts'

export interface SilentFront {
  readonly port: number
  readonly url: string
  /** The connections of now pass nothing on any more, in either direction; later ones do. */
  fallSilent(): void
  /** How many connections clients hold open. */
  open(): number
  /** The local ports of the clients that are connected. */
  clientPorts(): number[]
}

export async function startSilentFront(t: TestContext, database: TestDatabase): Promise<SilentFront> {
  const { host, port: serverPort, user, database: name } = database.connection
  const behind = join(host, `.s.PGSQL.${serverPort}`)
  const sockets = new Set<Socket>()
  const pairs = new Set<{ client: Socket; server: Socket; silent: boolean }>()
  // A client that hangs up is counted out; a silent front does not answer that either.
  const front = createServer({ allowHalfOpen: true }, (client) => {
    const server = connect(behind)
    const pair = { client, server, silent: false }
    pairs.add(pair)
    sockets.add(client)
    client.on('data', (bytes) => pair.silent || server.write(bytes))
    server.on('data', (bytes) => pair.silent || client.write(bytes))
    client.on('end', () => (pair.silent ? pairs.delete(pair) : client.end()))
    server.on('end', () => pair.silent || client.end())
    for (const socket of [client, server]) socket.on('error', () => socket.destroy())
    client.on('close', () => {
      pairs.delete(pair)
      sockets.delete(client)
      server.destroy()
    })
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    front.close()
  })
  const address = front.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    port,
    url: `postgres://${user}@127.0.0.1:${port}/${name}`,
    fallSilent: () => {
      for (const pair of pairs) pair.silent = true
    },
    open: () => pairs.size,
    clientPorts: () => [...pairs].map(({ client }) => client.remotePort ?? 0),
  }
}

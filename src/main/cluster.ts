// node:cluster as the parent and the children of one service use it. The parent holds the port and distributes
// connections in turn.
import cluster from 'node:cluster'
import { createServer } from 'node:net'
import type { Child, Orders, ToChild, ToParent } from './child-messages.ts'

/** Not one of the settings: it is not for operators. */
const ordersVariable = 'ORDERS_OF_POSTHORN_PROCESS'

/** Of this process, where a parent of ours started it. */
export function ordersIn(variables: Readonly<Record<string, string | undefined>>): Orders | undefined {
  const text = variables[ordersVariable]
  return cluster.isWorker && text !== undefined ? (JSON.parse(text) as Orders) : undefined
}

/** A process that another program runs in a cluster has no children of its own. */
export const mayFork = (): boolean => cluster.isPrimary

/** As this process was started itself: the same program, arguments and options of Node. */
export function fork(orders: Orders): Child {
  // Not JSON, which has no NaN: a histogram without samples is full of them.
  cluster.setupPrimary({ serialization: 'advanced' })
  const worker = cluster.fork({ [ordersVariable]: JSON.stringify(orders) })
  return {
    pid: worker.process.pid,
    send: (message) => {
      if (worker.isConnected()) worker.send(message, () => {})
    },
    onMessage: (listener) => void worker.on('message', (message: ToParent) => listener(message)),
    kill: () => void worker.process.kill('SIGKILL'),
    ended: new Promise((resolve) => {
      // What cannot be sent any more need not be: the end of the process says it all. One that never started has no
      // end.
      worker.on('error', (error) => {
        if (worker.process.pid === undefined) resolve(`could not be started: ${error.message}`)
      })
      worker.once('exit', (code: number | null, signal: string | null) =>
        resolve(signal === null ? `ended with code ${code}` : `was ended by ${signal}`),
      )
    }),
  }
}

export interface ParentLink {
  send(message: ToParent): void
  onMessage(listener: (message: ToChild) => void): void
  /** Lets this process end: nothing more follows. */
  close(): void
}

/** Node ends a child at once if its parent is gone. */
export function parentLink(): ParentLink {
  return {
    send: (message) => {
      if (process.connected) process.send?.(message, undefined, undefined, () => {})
    },
    onMessage: (listener) => void process.on('message', listener),
    close: () => void cluster.worker?.disconnect(),
  }
}

/** A port that is free now. Each child must be given the same one, also when all others are gone. */
export function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, host, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

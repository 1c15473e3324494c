// Statements sent in one turn of the event loop share one write: every write wakes a process of the database server.
import type { Writable } from 'node:stream'
import type pg from 'pg'

const gathering = new WeakSet<Writable>()

/** Called before each statement. What is written until the end of this turn is sent together. */
export function gatherWrites(client: pg.ClientBase): void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Writable } }).connection
  if (gathering.has(stream)) return
  gathering.add(stream)
  stream.cork()
  process.nextTick(() => {
    gathering.delete(stream)
    stream.uncork()
  })
}

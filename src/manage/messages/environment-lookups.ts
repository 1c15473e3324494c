// Environments by what inboxes name them by, many in one statement: whoever makes names up holds one connection of the pool,
// however many there are.
import type { Sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { findEnvironmentsNamed } from '../../store/operate/installation.ts'

/** Names in one statement. */
const namesMax = 500

/** By its id or its public name. */
export type FindEnvironment = (name: string) => Promise<Environment | undefined>

interface Asked {
  readonly name: string
  resolve(environment: Environment | undefined): void
  reject(error: unknown): void
}

export function createEnvironmentLookups(db: Sql): FindEnvironment {
  const waiting: Asked[] = []
  let isAsking = false

  async function askAll(): Promise<void> {
    isAsking = true
    while (waiting.length > 0) {
      const asked = waiting.splice(0, namesMax)
      try {
        const found = await findEnvironmentsNamed(
          db,
          asked.map(({ name }) => name),
        )
        for (const { name, resolve } of asked) resolve(found.get(name))
      } catch (error) {
        for (const { reject } of asked) reject(error)
      }
    }
    isAsking = false
  }

  return (name) =>
    new Promise((resolve, reject) => {
      waiting.push({ name, resolve, reject })
      if (!isAsking) void askAll()
    })
}

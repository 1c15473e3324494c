// Contexts: create, change, delete.
import { audit } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created, noContent, ok } from '../../domain/answer.ts'
import { contextDataBytesMax, contextKeyOf } from '../../domain/delivery/event.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { recordOfContext } from '../../domain/operate/audit-records.ts'
import type { Context } from '../../domain/people/context.ts'
import { conflict, invalidField, notFound } from '../../domain/problem.ts'
import { deleteContext, insertContext, lockContext, updateContext } from '../../store/people/contexts.ts'
import type { World } from '../../world/world.ts'

interface Call {
  readonly author: Author
  readonly type: string
  readonly id: string
  readonly idempotency: Idempotency | undefined
}

type Data = Readonly<Record<string, unknown>>

export async function createContext(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { data: Data | undefined },
): Promise<Answer<Context>> {
  const { type, id, data = {} } = call
  demandSmall(data)
  return once(db, world, environment, call.idempotency, async (tx) => {
    const context = await insertContext(tx, environment, { type, id, data, now: world.now() })
    if (context === undefined) throw conflict(`Context ${contextKeyOf(call)} already exists`)
    await audit(tx, world, environment, call.author, {
      ...named(context),
      action: 'create',
      after: recordOfContext(context),
    })
    return created(context)
  })
}

export async function changeContext(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { data: Data },
): Promise<Answer<Context>> {
  const { type, id, data } = call
  demandSmall(data)
  return once(db, world, environment, call.idempotency, async (tx) => {
    const before = await lockContext(tx, environment, call)
    const context = await updateContext(tx, environment, { type, id, data, now: world.now() })
    if (before === undefined || context === undefined) throw unknownContext(call)
    await audit(tx, world, environment, call.author, {
      ...named(context),
      action: 'change',
      before: recordOfContext(before),
      after: recordOfContext(context),
    })
    return ok(context)
  })
}

/** What was triggered with it stays as it is; it is without data from then on. */
export async function removeContext(db: Db, world: World, environment: Environment, call: Call): Promise<Answer<null>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const context = await deleteContext(tx, environment, call)
    if (context === undefined) throw unknownContext(call)
    await audit(tx, world, environment, call.author, {
      ...named(context),
      action: 'delete',
      before: recordOfContext(context),
    })
    return noContent
  })
}

const named = (context: Context) =>
  ({ kind: 'context', id: contextKeyOf(context), name: contextKeyOf(context) }) as const

/** As for contexts that come with an event. */
function demandSmall(data: Data): void {
  if (Buffer.byteLength(JSON.stringify(data)) <= contextDataBytesMax) return
  throw invalidField('data', `data is larger than ${contextDataBytesMax} bytes`)
}

export const unknownContext = (context: { type: string; id: string }) =>
  notFound(`Context ${contextKeyOf(context)} not found`)

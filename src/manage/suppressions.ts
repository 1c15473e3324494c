// The suppression list: add one or many, remove one.
import { once } from '../commit/once.ts'
import type { Db } from '../db/sql.ts'
import type { Answer, Idempotency } from '../domain/answer.ts'
import { created, noContent, ok } from '../domain/answer.ts'
import type { Environment } from '../domain/environment.ts'
import type { FieldErrors } from '../domain/problem.ts'
import { invalid, notFound } from '../domain/problem.ts'
import type { NewSuppression, Suppression, SuppressionChannel, SuppressionReason } from '../domain/suppression.ts'
import { addressMistake, comparedAddress } from '../domain/suppression.ts'
import { deleteSuppression, upsertSuppressions } from '../store/suppressions.ts'
import type { World } from '../world/world.ts'

interface Call {
  readonly idempotency: Idempotency | undefined
}

/** What a caller says of an address. */
export interface SuppressionInput {
  readonly channel: SuppressionChannel
  readonly address: string
  readonly reason?: SuppressionReason
  readonly note?: string
}

export interface SuppressionCounts {
  readonly added: number
  /** Those that were listed already; their reason and note are the new ones. */
  readonly updated: number
}

export async function addSuppression(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { suppression: SuppressionInput },
): Promise<Answer<Suppression>> {
  const [entry] = entriesOf([{ path: 'address', input: call.suppression }])
  return once(db, world, environment, call.idempotency, async (tx) => {
    const [result] = await upsertSuppressions(tx, environment, entry === undefined ? [] : [entry], world.now())
    if (result === undefined) throw new Error('A suppression was neither added nor updated')
    return result.created ? created(result.suppression) : ok(result.suppression)
  })
}

/** All or none: a list of which a part was refused would leave the caller to find out which. */
export async function addSuppressions(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { suppressions: readonly SuppressionInput[] },
): Promise<Answer<SuppressionCounts>> {
  const paths = call.suppressions.map((input, index) => ({ path: `suppressions.${index}.address`, input }))
  const entries = entriesOf(paths)
  return once(db, world, environment, call.idempotency, async (tx) => {
    const results = await upsertSuppressions(tx, environment, entries, world.now())
    const added = results.filter((result) => result.created).length
    return ok({ added, updated: results.length - added })
  })
}

export async function removeSuppression(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { channel: SuppressionChannel; address: string },
): Promise<Answer<null>> {
  const address = comparedAddress(call.channel, call.address)
  return once(db, world, environment, call.idempotency, async (tx) => {
    if (await deleteSuppression(tx, environment, { channel: call.channel, address })) return noContent
    throw notFound(`The ${call.channel} address ${call.address} is not on the suppression list`)
  })
}

/** Every address that cannot be one, at once. */
function entriesOf(inputs: readonly { path: string; input: SuppressionInput }[]): NewSuppression[] {
  const errors: FieldErrors = {}
  const entries = inputs.map(({ path, input }): NewSuppression => {
    const address = comparedAddress(input.channel, input.address)
    const mistake = addressMistake(input.channel, address)
    if (mistake !== undefined) errors[path] = { messages: [`${path} ${mistake}`], value: input.address }
    const { channel, reason = 'manual', note } = input
    return { channel, address, reason, source: 'caller', ...(note === undefined ? {} : { note }) }
  })
  if (Object.keys(errors).length > 0) throw invalid(errors)
  return entries
}

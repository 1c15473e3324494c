// The suppression list: add one or many, remove one.
import { audit, auditAll } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created, noContent, ok } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author, Change } from '../../domain/operate/audit.ts'
import { recordOfSuppression, suppressionId } from '../../domain/operate/audit-records.ts'
import { hiddenAddress } from '../../domain/people/erasure.ts'
import type {
  NewSuppression,
  Suppression,
  SuppressionChannel,
  SuppressionReason,
} from '../../domain/people/suppression.ts'
import { addressMistake, comparedAddress } from '../../domain/people/suppression.ts'
import type { FieldErrors } from '../../domain/problem.ts'
import { invalid, notFound } from '../../domain/problem.ts'
import { findAddressKey, findSigningSecret } from '../../store/operate/installation.ts'
import type { UpsertedSuppression } from '../../store/people/suppressions.ts'
import { deleteSuppression, lockSuppressions, upsertSuppressions } from '../../store/people/suppressions.ts'
import type { World } from '../../world/world.ts'

interface Call {
  readonly author: Author
  readonly idempotency: Idempotency | undefined
}

/** What a caller states about an address. */
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
    const [result] = await listed(tx, world, environment, call.author, entry === undefined ? [] : [entry])
    if (result === undefined) throw new Error('A suppression was neither added nor updated')
    return result.created ? created(result.suppression) : ok(result.suppression)
  })
}

/** All or none: a partly rejected list would leave the caller to find out which part. */
export async function addSuppressions(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { suppressions: readonly SuppressionInput[] },
): Promise<Answer<SuppressionCounts>> {
  const paths = call.suppressions.map((input, index) => ({ path: `suppressions.${index}.address`, input }))
  const entries = entriesOf(paths)
  return once(db, world, environment, call.idempotency, async (tx) => {
    const results = await listed(tx, world, environment, call.author, entries)
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
    const asHash = await hashOf(tx, world, environment, { channel: call.channel, address })
    const hidden = asHash && (await deleteSuppression(tx, environment, asHash))
    const removed = (await deleteSuppression(tx, environment, { channel: call.channel, address })) ?? hidden
    if (removed === undefined) {
      throw notFound(`The ${call.channel} address ${call.address} is not on the suppression list`)
    }
    const named = await naming(tx, world, environment)
    await audit(tx, world, environment, call.author, {
      ...named(removed),
      action: 'delete',
      before: recordOfSuppression(removed),
    })
    return noContent
  })
}

/** An address of an erased person is on the list as a hash only. */
async function hashOf(
  tx: Tx,
  world: World,
  environment: Environment,
  { channel, address }: { channel: SuppressionChannel; address: string },
): Promise<{ channel: SuppressionChannel; address: string } | undefined> {
  const key = await findAddressKey(tx, world.sealer, environment)
  return key && { channel, address: hiddenAddress(key, channel, address) }
}

async function listed(
  tx: Tx,
  world: World,
  environment: Environment,
  author: Author,
  entries: readonly NewSuppression[],
): Promise<UpsertedSuppression[]> {
  const placeOf = ({ channel, address }: Suppression): string => `${channel}/${address}`
  const before = new Map((await lockSuppressions(tx, environment, entries)).map((one) => [placeOf(one), one]))
  const results = await upsertSuppressions(tx, environment, entries, world.now())
  const named = await naming(tx, world, environment)
  const changes = results.map(({ suppression, created: isNew }): Change => {
    const was = before.get(placeOf(suppression))
    return {
      ...named(suppression),
      action: isNew ? 'create' : 'change',
      before: was && recordOfSuppression(was),
      after: recordOfSuppression(suppression),
    }
  })
  await auditAll(tx, world, environment, author, changes)
  return results
}

async function naming(tx: Tx, world: World, environment: Environment) {
  const secret = await findSigningSecret(tx, world.sealer, environment)
  if (secret === undefined) throw new Error('The environment is missing')
  return (suppression: Suppression) =>
    ({ kind: 'suppression', id: suppressionId(secret, suppression), name: suppression.channel }) as const
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

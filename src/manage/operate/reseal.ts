// Moves everything that is sealed to the current encryption key and the current form, a batch a transaction, beside a running service.

import type { Db, Tx } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { keyIdOfSealed, UnsealError } from '../../domain/operate/sealed.ts'
import { resealIntegrations } from '../../store/integrations/integrations.ts'
import { resealAddresses } from '../../store/messages/reseal.ts'
import { resealApiKeys } from '../../store/operate/api-keys.ts'
import { resealAuditStreams } from '../../store/operate/audit-streams.ts'
import { resealVariables } from '../../store/operate/environment-variables.ts'
import {
  findEncryptionCheck,
  listAllEnvironments,
  resealLateKey,
  resealSigningSecret,
  updateEncryptionCheck,
} from '../../store/operate/installation.ts'
import { resealSigningVersions } from '../../store/operate/signing-versions.ts'
import { resealChannels } from '../../store/people/subscriber-channels.ts'
import { resealEndpoints } from '../../store/webhooks/webhook-endpoints.ts'
import type { World } from '../../world/world.ts'
import { StartError, sealedCheck } from './first-start.ts'

/** The result of one batch: how many rows were resealed, and the last of them, from which the next batch continues. */
export interface ResealedBatch {
  readonly count: number
  readonly last: string | undefined
}

export type Progress = (what: string, environment: Environment, total: number) => void

/** Small enough that a batch holds its locks for a few milliseconds only. */
const batchRows = 500
/** Rows that a node with the old key wrote in the meantime are found in another round; such a node must be stopped. */
const roundsMax = 3

type Reseal = (tx: Tx, world: World, environment: Environment, after: string | undefined) => Promise<ResealedBatch>

const kinds: readonly { what: string; reseal: Reseal }[] = [
  {
    what: 'signing secrets',
    reseal: async (tx, world, environment) => ({
      count:
        Number(await resealSigningSecret(tx, world.sealer, environment)) +
        (await resealSigningVersions(tx, world.sealer, environment)),
      last: undefined,
    }),
  },
  {
    what: 'address keys',
    reseal: async (tx, world, environment) => ({
      count: (await resealLateKey(tx, world.sealer, environment, 'address-key')) ? 1 : 0,
      last: undefined,
    }),
  },
  {
    what: 'inbox keys',
    reseal: async (tx, world, environment) => ({
      count: (await resealLateKey(tx, world.sealer, environment, 'inbox-key')) ? 1 : 0,
      last: undefined,
    }),
  },
  {
    what: 'audit keys',
    reseal: async (tx, world, environment) => ({
      count: (await resealLateKey(tx, world.sealer, environment, 'audit-key')) ? 1 : 0,
      last: undefined,
    }),
  },
  {
    what: 'audit streams',
    reseal: (tx, world, environment, after) => resealAuditStreams(tx, world.sealer, environment, after, batchRows),
  },
  {
    what: 'webhook endpoints',
    reseal: (tx, world, environment, after) => resealEndpoints(tx, world.sealer, environment, after, batchRows),
  },
  {
    what: 'environment variables',
    reseal: (tx, world, environment, after) => resealVariables(tx, world.sealer, environment, after, batchRows),
  },
  {
    what: 'API keys',
    reseal: (tx, world, environment, after) => resealApiKeys(tx, world.sealer, environment, after, batchRows),
  },
  {
    what: 'integrations',
    reseal: (tx, world, environment, after) => resealIntegrations(tx, world.sealer, environment, after, batchRows),
  },
  {
    what: 'subscriber channels',
    reseal: (tx, world, environment, after) => resealChannels(tx, world.sealer, environment, after, batchRows),
  },
  {
    what: 'addresses of messages',
    reseal: (tx, world, environment, after) => resealAddresses(tx, world.sealer, environment, after, batchRows),
  },
]

/** Returns how many values were resealed. Stored idempotent responses are skipped: they expire within a day. */
export async function reseal(db: Db, world: World, progress: Progress): Promise<number> {
  let total = 0
  world.sealer.sealIn(2)
  // If only the format changes: an older version, which cannot open the new one, is refused from the first row on.
  if (await isCheckOfThisKey(db, world)) await db.transaction((tx) => updateEncryptionCheck(tx, sealedCheck(world)))
  for (let round = 1; ; round += 1) {
    // A running node seals in the format that it found at its start, until the next: that is no reason to continue
    // forever.
    const sealer = round === 1 ? { ...world.sealer, movesForms: true as const } : world.sealer
    const count = await resealRound(db, { ...world, sealer }, progress)
    total += count
    if (count === 0) break
    if (round === roundsMax) {
      throw new StartError(
        'Another node still encrypts with the previous key. Restart every node with the new POSTHORN_ENCRYPTION_KEY and the old one in POSTHORN_ENCRYPTION_KEY_PREVIOUS, then run this again.',
      )
    }
  }
  // Last, if the key changes: from here on a node with only the previous key is refused.
  await db.transaction((tx) => updateEncryptionCheck(tx, sealedCheck(world)))
  return total
}

async function isCheckOfThisKey(db: Db, world: World): Promise<boolean> {
  const check = await findEncryptionCheck(db)
  return check !== undefined && keyIdOfSealed(check).equals(world.sealer.keyId)
}

async function resealRound(db: Db, world: World, progress: Progress): Promise<number> {
  let total = 0
  for (const environment of await listAllEnvironments(db)) {
    for (const { what, reseal } of kinds) {
      let count = 0
      let after: string | undefined
      do {
        const batch = await resealBatch(db, world, environment, what, (tx) => reseal(tx, world, environment, after))
        count += batch.count
        after = batch.last
        if (batch.count > 0) progress(what, environment, count)
      } while (after !== undefined)
      total += count
    }
  }
  return total
}

async function resealBatch(
  db: Db,
  world: World,
  environment: Environment,
  what: string,
  work: (tx: Tx) => Promise<ResealedBatch>,
): Promise<ResealedBatch> {
  try {
    return await db.transaction(work)
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error
    world.log.error({ err: error, environmentId: environment.id, what }, 'A sealed value cannot be decrypted')
    throw new StartError(
      `Some ${what} of ${environment.name} were encrypted with a key that is neither the current nor the previous one (${error.message}). Set POSTHORN_ENCRYPTION_KEY_PREVIOUS to that key.`,
    )
  }
}

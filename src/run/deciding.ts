// What deciding needs, wired once: the caches of versions, integrations, layouts and secrets between batches.
import type { Db } from '../db/sql.ts'
import { createLimits } from '../deliver/limits.ts'
import type { World } from '../world/world.ts'
import { createIntegrations } from './cache/integrations.ts'
import { createWordings } from './cache/layouts.ts'
import { createSigningSecrets } from './cache/signing-secrets.ts'
import { createVersions } from './cache/versions.ts'
import type { FactSources } from './decide/load-facts.ts'
import type { LinkSources } from './decide/unsubscribe-headers.ts'
import type { OutgoingParts } from './send/place-sends.ts'

/** What a worker and a simulation are both wired from. */
export interface Deciding extends FactSources, LinkSources, OutgoingParts {
  readonly db: Db
  readonly world: World
}

export type DecidingSources = Pick<Deciding, 'db' | 'world' | 'renderer' | 'operatorMail'> & {
  readonly linkBase?: string | undefined
}

export function createDeciding({ db, world, renderer, operatorMail, linkBase }: DecidingSources): Deciding {
  return {
    db,
    world,
    renderer,
    versions: createVersions(),
    integrations: createIntegrations(world.sealer),
    wordings: createWordings(world.sealer),
    limits: createLimits(),
    signingSecrets: createSigningSecrets(world),
    linkBase,
    operatorMail,
  }
}

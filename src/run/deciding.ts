// What deciding needs, wired once: the caches of versions, integrations, layouts and secrets between batches.
import { createLimits } from '../deliver/limits.ts'
import { createIntegrations } from './cache/integrations.ts'
import { createWordings } from './cache/layouts.ts'
import { createSigningSecrets } from './cache/signing-secrets.ts'
import { createVersions } from './cache/versions.ts'
import type { Deciding } from './pipeline.ts'

export type DecidingParts = Pick<Deciding, 'db' | 'world' | 'renderer' | 'operatorMail'> & {
  readonly linkBase?: string | undefined
}

export function createDeciding({ db, world, renderer, operatorMail, linkBase }: DecidingParts): Deciding {
  return {
    db,
    world,
    renderer,
    versions: createVersions(),
    integrations: createIntegrations(world.sealer),
    wordings: createWordings(),
    limits: createLimits(),
    signingSecrets: createSigningSecrets(world),
    linkBase,
    operatorMail,
  }
}

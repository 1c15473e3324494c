// What deciding needs, wired once: what is kept of versions, integrations, layouts and secrets between batches.
import { createSlots } from '../deliver/slots.ts'
import { createIntegrations } from './integrations.ts'
import { createWordings } from './layouts.ts'
import type { Deciding } from './pipeline.ts'
import { createSigningSecrets } from './signing-secrets.ts'
import { createVersions } from './versions.ts'

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
    slots: createSlots(),
    signingSecrets: createSigningSecrets(world.sealer),
    linkBase,
    operatorMail,
  }
}

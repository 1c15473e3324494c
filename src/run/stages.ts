// The stages of the worker, each with what it uses and nothing else: wired once, in workers.ts.
import type { Db } from '../db/sql.ts'
import type { World } from '../world/world.ts'
import type { BatchWeights } from './batch-weights.ts'
import type { Environments } from './cache/environments.ts'
import type { FactSources } from './decide/load-facts.ts'
import type { SuppressionParts } from './decide/suppressed.ts'
import type { LinkSources } from './decide/unsubscribe-headers.ts'
import type { WebhookParts } from './decide/webhook-answers.ts'
import type { DispatchParts } from './dispatch.ts'
import type { JobFaults } from './job-faults.ts'
import type { RecordParts } from './record-placed.ts'
import type { HoldingParts } from './send/held-unrendered.ts'
import type { PlaceParts } from './send/place-sends.ts'
import type { Unconfirmed } from './unconfirmed.ts'

export interface DecideParts extends LinkSources, SuppressionParts, WebhookParts, HoldingParts {
  readonly db: Db
  readonly world: World
}

export interface Stages {
  readonly environments: Environments
  readonly load: FactSources
  readonly decide: DecideParts
  readonly place: PlaceParts
  readonly record: RecordParts
  readonly dispatch: DispatchParts
  readonly faults: JobFaults
  readonly unconfirmed: Unconfirmed
  readonly weights: BatchWeights
}

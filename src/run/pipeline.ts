// What running needs, wired once: the database, the world, the queue, and the caches between batches.
import type { Db } from '../db/sql.ts'
import type { Limits } from '../deliver/limits.ts'
import type { Credentials } from '../domain/delivery/integration.ts'
import type { Renderer } from '../domain/workflows/rendering.ts'
import type { Queue } from '../queue/queue.ts'
import type { World } from '../world/world.ts'
import type { Environments } from './cache/environments.ts'
import type { Integrations } from './cache/integrations.ts'
import type { Wordings } from './cache/layouts.ts'
import type { SigningSecrets } from './cache/signing-secrets.ts'
import type { Versions } from './cache/versions.ts'
import type { ByteBudget } from './send/byte-budget.ts'
import type { Slots } from './tasks/slots.ts'

/** What is needed to decide, and to choose who sends: nodes without a worker have it too. */
export interface Deciding {
  readonly db: Db
  readonly world: World
  readonly renderer: Renderer
  readonly versions: Versions
  readonly integrations: Integrations
  readonly wordings: Wordings
  readonly limits: Limits
  readonly signingSecrets: SigningSecrets
  /** The base URL of links in messages; undefined if the service has no URL that they could point to. */
  readonly linkBase: string | undefined
  /** The operator's own mail server, which makes platform-email real. */
  readonly operatorMail: Credentials | undefined
}

export interface Pipeline extends Deciding {
  readonly queue: Queue
  readonly environments: Environments
  /** What files may take of memory while they are sent. */
  readonly fileBudget: ByteBudget
  /** The endpoints of customers that this node sends to at a time: slow ones hold their slot for a while. */
  readonly webhookSlots: Slots
  /** False while this node cannot show the others that it lives: then it begins no call. */
  isAlive(): boolean
}

// What a scene is: a service set up in some way, and the faults it is put through.
import type { Stage } from './stage.ts'

export interface Scene {
  readonly name: string
  /** One sentence, for tables and documents. */
  readonly what: string
  readonly kills?: number
  readonly events?: number
  /** How long the end may take; longer where a provider's unknown outcomes are repeated after minutes. */
  readonly settleMs?: number
  /** No node is killed and the providers are well: then a second copy of an e-mail, even a marked one, is worth a remark. */
  readonly nodesStayUp?: boolean
  /** Why it cannot run here, with the name of what is missing. */
  unavailable?(): string | undefined
  /** Starts the database and the nodes. */
  prepare(stage: Stage): Promise<void>
  /** Goes on until the pace says that it is enough; leaves every node ready. */
  faults(stage: Stage): Promise<void>
}

// What a task needs that is done page by page: between two pages it stops if the node does.
import type { Writing } from '../writing.ts'

export interface PagedParts extends Writing {
  /** False while this node cannot show the others that it is alive. */
  isAlive(): boolean
  /** True when the service is stopping: what was started continues elsewhere. */
  isStopping(): boolean
}

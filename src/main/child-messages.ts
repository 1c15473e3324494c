// The messages between the parent and the children of a service with several processes.
import type { Connection } from '../db/connect.ts'
import type { MetricFamily } from '../http/metrics/shared-metrics.ts'

/** What a child is started with; the settings it reads itself. */
export interface Orders {
  /** From 1 on: the place that it takes. */
  readonly number: number
  /** Known to the parent before the child begins anything, so that its death can be reported. */
  readonly nodeId: string
  readonly port: number
  /** Where the parent's embedded database is; omitted if DATABASE_URL says. */
  readonly connection?: Connection | undefined
  /** Nodes whose processes the parent saw end. */
  readonly dead: readonly string[]
}

export type ToParent =
  | { readonly kind: 'started'; readonly url: string }
  /** It could not start, for a reason that the operator can read. */
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'metrics'; readonly question: number; readonly families: readonly MetricFamily[] }
  /** A client requested the metrics of all processes from this child. */
  | { readonly kind: 'ask-metrics'; readonly question: number }

export type ToChild =
  | { readonly kind: 'stop' }
  | { readonly kind: 'dead'; readonly nodeId: string }
  | { readonly kind: 'ask-metrics'; readonly question: number }
  | { readonly kind: 'metrics'; readonly question: number; readonly families: readonly MetricFamily[] }

/** A child as its parent sees it. */
export interface Child {
  readonly pid: number | undefined
  send(message: ToChild): void
  onMessage(listener: (message: ToParent) => void): void
  kill(): void
  /** How it ended, in words. */
  readonly ended: Promise<string>
}

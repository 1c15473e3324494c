// Receipts that arrived before their messages were settled: stored as a task, and checked again a few times.
import type { Tx } from '../../db/sql.ts'
import { fanOutLane } from '../../domain/delivery/event.ts'
import type { Environment } from '../../domain/environment.ts'
import { rawBytesMax } from '../../domain/insight/execution-detail.ts'
import type { Receipt } from '../../providers/inbound/receipt.ts'
import type { Queue } from '../../queue/queue.ts'
import type { NewTask } from '../../store/jobs/tasks.ts'
import { insertTasks } from '../../store/jobs/tasks.ts'
import type { World } from '../../world/world.ts'

/** A vendor may be faster than our own commit; a job with other messages may go on for half an hour. */
const looksAfterMs = [15_000, 120_000, 600_000, 1_800_000]

/** A claim reads tasks whole; an account that also sends for others reports much that does not belong to us. */
const receiptsPerTask = 100

export interface LateReceipts {
  readonly integrationId: string
  readonly receipts: readonly Receipt[]
  /** Looks that were made. */
  readonly looks: number
}

export async function keepForLater(
  tx: Tx,
  world: World,
  environment: Environment,
  { clock }: Pick<Queue, 'clock'>,
  late: LateReceipts,
): Promise<void> {
  const now = world.now()
  const dueAt = nextLookAt(late.looks, now)
  if (dueAt === undefined) return
  const tasks: NewTask[] = []
  for (let from = 0; from < late.receipts.length; from += receiptsPerTask) {
    const receipts = late.receipts.slice(from, from + receiptsPerTask).map(shortened)
    tasks.push({ id: world.newId(now), kind: 'receipt', lane: fanOutLane, dueAt, state: { ...late, receipts } })
  }
  await insertTasks(tx, environment, tasks, now, clock)
}

/** Undefined when there was the last. */
export function nextLookAt(looks: number, now: Date): Date | undefined {
  const afterMs = looksAfterMs[looks]
  return afterMs === undefined ? undefined : new Date(now.getTime() + afterMs)
}

export const isLastLook = (looks: number): boolean => looks + 1 >= looksAfterMs.length

export function lateReceiptsOf(state: Readonly<Record<string, unknown>>): LateReceipts {
  const { integrationId, receipts, looks } = state as unknown as LateReceipts
  return { integrationId, looks, receipts: receipts.map(revived) }
}

/** Of the report itself, no more than is shown of it. */
function shortened(receipt: Receipt): Receipt {
  const text = JSON.stringify(receipt.row) ?? ''
  return text.length <= rawBytesMax ? receipt : { ...receipt, row: text.slice(0, rawBytesMax) }
}

/** A timestamp is a string in JSON. */
function revived({ at, ...receipt }: Receipt): Receipt {
  return at === undefined ? receipt : { ...receipt, at: new Date(at) }
}

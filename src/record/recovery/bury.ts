// Jobs that are given up by a fault of ours, with what was left of their messages and steps.
import type { Db } from '../../db/sql.ts'
import { sendErrorOf, withoutDue } from '../../domain/delivery/after-outcome.ts'
import type { Job } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { Queue } from '../../queue/queue.ts'
import { markBuried } from '../../store/jobs/buried.ts'
import type { CallResult, UnsentMessage } from '../../store/messages/sending.ts'
import { findUnsent } from '../../store/messages/sending.ts'
import type { World } from '../../world/world.ts'
import { countGivenUp } from '../counts/count-messages.ts'
import { countedGivenUp } from '../counts/count-settlements.ts'
import type { RestOfSteps } from '../settlement.ts'
import { settles } from '../settlement.ts'
import { writeClosing } from '../write-settlements.ts'

export async function buryJobs(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  burials: readonly { job: Job; words: string; laterSteps: readonly number[] }[],
): Promise<void> {
  const now = world.now()
  const settlements = burials.map(({ job, words, laterSteps }) => {
    const rest: RestOfSteps = { steps: laterSteps, status: 'canceled', details: [detail(now, 'previousFailed')] }
    return settles(job, 'failed', {
      details: [detail(now, 'buried', { raw: { message: words, status: job.status, claims: runsOf(job) } })],
      rest: laterSteps.length === 0 ? null : rest,
      // A window that no one would close must not keep collecting events.
      closes: job.status === 'delayed' ? (job.state?.windowId ?? null) : null,
    })
  })
  const { stillLeased, unsent, results } = await db.transaction(async (tx) => {
    const running = burials.map(({ job }) => job).filter((job) => job.status === 'running')
    const unsent = await findUnsent(tx, environment, running)
    const subscribers = new Map(burials.map(({ job }) => [job.id, job.subscriberId]))
    const results = unsent.map((message) => givenUp(message, subscribers.get(message.jobId)))
    const parts = { settlements, results, calls: countedGivenUp(unsent, results), reservation: undefined }
    const written = await writeClosing(tx, world, environment, queue, parts)
    const buried = burials.map(({ job }) => job.id).filter((id) => written.stillLeased.has(id))
    await markBuried(tx, environment, buried, now)
    return { ...written, unsent, results }
  })
  world.meter.countBuried(burials.filter(({ job }) => stillLeased.has(job.id)).length)
  countGivenUp(world.meter, unsent, results, stillLeased)
}

/** How often it was run in vain. */
const runsOf = ({ interruptions, faults }: Job): number => Math.max(interruptions, faults + 1)

/** What was being sent may have been sent; the rest was not. */
function givenUp(message: UnsentMessage, subscriberId: string | undefined): CallResult {
  const { unsureRepeats, interruptions = 0 } = message.sending
  const isPerhapsSent = message.state === 'calling' || unsureRepeats > 0 || interruptions > 0
  return {
    id: message.id,
    state: 'done',
    status: isPerhapsSent ? 'warning' : 'error',
    error: sendErrorOf(message.channel, 'The step failed because of an internal error'),
    providerMessageId: null,
    sending: withoutDue(message.sending),
    nextIntegrationId: null,
    isTest: false,
    // Whether anyone wants to hear of it is asked when it is reported: this is rare.
    ...(subscriberId === undefined ? {} : { reportedTo: { subscriberId } }),
  }
}

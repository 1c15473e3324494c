// What became of the earlier steps of a run, for conditions and templates that ask.
import type { Sql } from '../../db/sql.ts'
import type { EarlierMessage } from '../../domain/conditions/condition-evaluation.ts'
import type { Job } from '../../domain/delivery/job.ts'
import { idsOfMessages, jobIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { grouped } from '../../domain/grouped.ts'
import { namesOfStep, placeOfStep } from '../../domain/workflows/step-names.ts'
import type { NotificationStep, WorkflowVersion } from '../../domain/workflows/workflow.ts'
import type { DigestFacts } from '../../store/events/digests.ts'
import type { PreviousStep } from '../../store/jobs/step-runs.ts'
import { findStepRuns } from '../../store/jobs/step-runs.ts'
import { needsOf } from './step-needs.ts'

/** By notification; read only if a step needs it. */
export async function findPreviousSteps(
  db: Sql,
  environment: Environment,
  jobs: readonly Job[],
  versions: ReadonlyMap<string, WorkflowVersion>,
): Promise<ReadonlyMap<string, readonly PreviousStep[]>> {
  const asked = jobs.flatMap((job) => earlierJobs(job, versions.get(job.versionId)?.definition.steps ?? []))
  if (asked.length === 0) return new Map()
  const rows = await findStepRuns(db, environment, asked)
  return grouped(rows, (row) => row.notificationId)
}

function earlierJobs(job: Job, steps: readonly NotificationStep[]) {
  const step = steps[job.step]
  if (step === undefined || job.step === 0 || !needsOf(step).previous) return []
  return steps.slice(0, job.step).flatMap(({ active }, place) => {
    if (!active) return []
    const id = jobIdOf(job.eventId, job.notificationId, place)
    return [{ id, messages: idsOfMessages(job.eventId, id) }]
  })
}

/** The messages of the step that is called so; undefined where it has not run. */
export function messagesOfStep(
  steps: readonly NotificationStep[],
  previous: readonly PreviousStep[],
  name: string,
): readonly EarlierMessage[] | undefined {
  const place = placeOfStep(steps, name)
  return previous.find(({ step }) => step === place)?.messages
}

/**
 * The earlier steps as templates and rules see them, by each of their names: the state of their messages, the events of
 * a digest, and the response of a customer's service, whose fields are next to them.
 */
export function stepsScope(
  steps: readonly NotificationStep[],
  previous: readonly PreviousStep[],
  digests: ReadonlyMap<string, DigestFacts>,
): Readonly<Record<string, unknown>> {
  // Without a prototype: a step may be called `constructor`.
  const scope: Record<string, unknown> = Object.create(null)
  for (const one of previous) {
    const step = steps[one.step]
    if (step === undefined) continue
    const seen = stepScope(one, digests)
    for (const name of namesOfStep(step)) scope[name] ??= seen
  }
  return scope
}

function stepScope({ status, state, messages }: PreviousStep, digests: ReadonlyMap<string, DigestFacts>) {
  const result = state?.result
  const digest = digests.get(state?.windowId ?? '')
  return {
    ...(typeof result === 'object' && result !== null && !Array.isArray(result) ? result : {}),
    status,
    sent: messages.some((message) => message.status === 'sent'),
    seen: messages.some((message) => message.seen),
    read: messages.some((message) => message.read),
    ...(result === undefined ? {} : { result }),
    ...(digest === undefined
      ? {}
      : {
          events: digest.payloads.map((payload) => ({ payload })),
          eventCount: digest.total,
          total_count: digest.total,
        }),
  }
}

// Forwards a reply to an e-mail to the callback of the step that sent it: signed, repeated until it is accepted.
import type { Asked, CallOutcome } from '../../deliver/call-service.ts'
import { callService } from '../../deliver/call-service.ts'
import { nextCallAt } from '../../domain/delivery/custom-call.ts'
import type { Environment } from '../../domain/environment.ts'
import type { StoredDetail } from '../../domain/insight/execution-detail.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import { settleReply } from '../../record/receipts/settle-reply.ts'
import { findEvents } from '../../store/events/events.ts'
import type { Task } from '../../store/jobs/tasks.ts'
import { findTaskMail, taskMailBytes } from '../../store/jobs/tasks.ts'
import type { RepliedMessage } from '../../store/messages/receipts.ts'
import { findReplied } from '../../store/messages/receipts.ts'
import { findSubscribersById } from '../../store/people/subscribers.ts'
import type { SigningSecrets } from '../cache/signing-secrets.ts'
import type { Versions } from '../cache/versions.ts'
import type { ByteBudget } from '../send/byte-budget.ts'
import type { Writing } from '../writing.ts'

const callTimeoutMs = 15_000

/** When files of others take all the memory there is for them. */
const roomAgainMs = 5_000

export interface ReplyTaskParts extends Writing {
  readonly versions: Versions
  readonly signingSecrets: SigningSecrets
  /** What files may take of memory. */
  readonly fileBudget: ByteBudget
}

interface ReplyState {
  readonly messageId: string
  readonly calls: number
}

/** The mail may hold files: it shares the memory that they may take. */
export async function handReplyOn(parts: ReplyTaskParts, environment: Environment, task: Task): Promise<void> {
  const { db, queue, fileBudget } = parts
  const giveBack = await fileBudget.take(await taskMailBytes(db, environment, task.id))
  if (giveBack === undefined) {
    const { calls } = task.state as unknown as ReplyState
    const again = { waitMs: roomAgainMs, calls }
    return settleReply(db, environment, queue, { task, jobId: undefined, detail: undefined, again })
  }
  try {
    await handOn(parts, environment, task)
  } finally {
    giveBack()
  }
}

async function handOn(parts: Omit<ReplyTaskParts, 'fileBudget'>, environment: Environment, task: Task): Promise<void> {
  const { db, world, queue, signingSecrets } = parts
  const { messageId, calls } = task.state as unknown as ReplyState
  const message = await findReplied(db, environment, messageId)
  const mail = (await findTaskMail(db, environment, task.id)) ?? {}
  const call = message && (await callOf(parts, environment, message, mail))
  if (message === undefined || call === undefined) {
    // The message went with its month, or the workflow wants no answers any more.
    const missing = message && detail(world.now(), 'replyCallbackMissing')
    return settleReply(db, environment, queue, { task, jobId: message?.jobId, detail: missing, again: undefined })
  }
  const signing = await signingSecrets.of(db, environment)
  const keys = signing.callKeys(world.now())
  const outcome = await callService(world, { call, idempotencyKey: task.id, keys })
  const now = world.now()
  const at = againAt(outcome, calls + 1, now, world.random())
  const again = at && { waitMs: at.getTime() - now.getTime(), calls: calls + 1 }
  await settleReply(db, environment, queue, {
    task,
    jobId: message.jobId,
    detail: replyDetailOf(outcome, calls + 1, now),
    again,
  })
}

function againAt(outcome: CallOutcome, calls: number, now: Date, random: number): Date | undefined {
  return outcome.kind === 'busy' ? nextCallAt(calls, { now, random, retryAfterMs: outcome.retryAfterMs }) : undefined
}

function replyDetailOf(outcome: CallOutcome, calls: number, now: Date): StoredDetail {
  const raw = { ...outcome.facts, attempt: calls }
  return detail(now, outcome.kind === 'answered' ? 'replyCalled' : 'replyFailed', { raw, isRetry: calls > 1 })
}

async function callOf(
  { db, versions }: Pick<ReplyTaskParts, 'db' | 'versions'>,
  environment: Environment,
  message: RepliedMessage,
  mail: Readonly<Record<string, unknown>>,
): Promise<Asked | undefined> {
  const version = (await versions.of(db, environment, [message.versionId])).get(message.versionId)
  const callback = version?.definition.steps[message.step]?.replyCallback
  if (version === undefined || callback?.active !== true || callback.url === undefined) return undefined
  const [[event], [subscriber]] = await Promise.all([
    findEvents(db, environment, [message.eventId]),
    findSubscribersById(db, environment, [message.subscriberId]),
  ])
  const body = {
    transactionId: event?.transactionId ?? message.eventId,
    payload: event?.payload ?? {},
    templateIdentifier: version.identifier,
    template: { _id: version.workflowId, name: version.definition.name },
    notification: { _id: message.notificationId },
    message: { _id: message.id, subject: message.subject, email: message.email },
    subscriber: { _id: message.subscriberId, subscriberId: subscriber?.subscriber_id ?? null },
    mail,
  }
  return { url: callback.url, method: 'POST', headers: {}, body: JSON.stringify(body), timeoutMs: callTimeoutMs }
}

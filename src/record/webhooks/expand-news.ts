// Turns events into deliveries, one for each endpoint that wants them: a page in one transaction, in the order they happened.
import type { Db, Tx } from '../../db/sql.ts'
import { fanOutLane } from '../../domain/delivery/event.ts'
import type { Environment } from '../../domain/environment.ts'
import { wants } from '../../domain/webhooks/webhook-endpoint.ts'
import type { MessageFacts, NamedWorkflow, News } from '../../domain/webhooks/webhook-event.ts'
import type { Queue } from '../../queue/queue.ts'
import type { NewTask, Task } from '../../store/jobs/tasks.ts'
import { advanceTask, finishTasks, repeatTask, wakeTasks } from '../../store/jobs/tasks.ts'
import { findSubscribersById } from '../../store/people/subscribers.ts'
import type { NewDelivery } from '../../store/webhooks/webhook-deliveries.ts'
import { insertDeliveries } from '../../store/webhooks/webhook-deliveries.ts'
import { listActiveEndpoints } from '../../store/webhooks/webhook-endpoints.ts'
import type { NumberedNews, ShownMessage } from '../../store/webhooks/webhook-news.ts'
import { findShownMessages, takeNews, tryLockNews } from '../../store/webhooks/webhook-news.ts'
import type { World } from '../../world/world.ts'

/** Each becomes as many deliveries as there are endpoints. */
const newsPerPage = 500

/** While another node takes the events of the environment: about as long as it needs for a page. */
const lockedAgainMs = 100

/**
 * The next page; true if there may be more. The tasks are finished with the last page. Before that the first of them stands for
 * all, with its lease renewed.
 */
export async function expandNewsPage(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  tasks: readonly [Task, ...Task[]],
): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await tryLockNews(tx, environment))) {
      const [first] = tasks
      const isOurs = await keepFirst(tx, environment, queue, tasks)
      if (isOurs) await repeatTask(tx, environment, { ...first, waitMs: lockedAgainMs, state: {} }, queue.clock)
      return false
    }
    const isMore = await writeDeliveries(tx, world, environment)
    if (isMore) return keepFirst(tx, environment, queue, tasks)
    await finishTasks(tx, environment, tasks)
    return false
  })
}

/** False, and all are left to those who have them, if the first is no longer ours: no event is left without a task. */
async function keepFirst(
  tx: Tx,
  environment: Environment,
  queue: Queue,
  [{ id, lease, state }, ...others]: readonly [Task, ...Task[]],
): Promise<boolean> {
  const isOurs = await advanceTask(tx, environment, { id, lease, state }, queue)
  if (isOurs) await finishTasks(tx, environment, others)
  return isOurs
}

/** True if a whole page was taken. */
async function writeDeliveries(tx: Tx, world: World, environment: Environment): Promise<boolean> {
  const news = await takeNews(tx, environment, newsPerPage)
  const now = world.now()
  const endpoints = news.length === 0 ? [] : await listActiveEndpoints(tx, environment)
  const described = endpoints.length === 0 ? [] : await describe(tx, environment, news)
  const deliveries = endpoints.flatMap(({ id, ...filter }) =>
    described
      .filter(({ one, workflowId }) => wants(filter, one.type, workflowId))
      .map(({ one, data }) => deliveryOf(id, one, data)),
  )
  await insertDeliveries(tx, environment, deliveries, now)
  const woken = [...new Set(deliveries.map(({ endpointId }) => endpointId))].sort()
  await wakeTasks(
    tx,
    environment,
    woken.map((id) => sendingTask(id, now)),
    now,
  )
  return news.length === newsPerPage
}

/** One for each endpoint: whoever has it sends the endpoint's deliveries. */
export const sendingTask = (endpointId: string, now: Date): NewTask => ({
  id: endpointId,
  kind: 'webhook',
  lane: fanOutLane,
  dueAt: now,
  state: { endpointId },
})

function deliveryOf(endpointId: string, one: NumberedNews, data: object): NewDelivery {
  const { id, type, subjectId, subscriberId, number, at } = one
  const body = { type, timestamp: at.toISOString(), data }
  return { endpointId, id, type, subjectId, subscriberId, body, number, createdAt: at }
}

interface DescribedNews {
  readonly one: NumberedNews
  readonly workflowId: string | null
  readonly data: object
}

/** Without those about a message or a subscriber that is gone by now. */
async function describe(tx: Tx, environment: Environment, news: readonly NumberedNews[]): Promise<DescribedNews[]> {
  const isOfMessage = ({ type }: News): boolean => type.startsWith('message.')
  const messages = await findShownMessages(
    tx,
    environment,
    distinct(news.filter(isOfMessage).map(({ subjectId }) => subjectId)),
  )
  const subscribers = await findSubscribersById(
    tx,
    environment,
    distinct(news.flatMap((one) => one.subscriberId ?? [])),
  )
  const bySubscriber = new Map(subscribers.map((row) => [row.id, { _id: row.id, subscriberId: row.subscriber_id }]))
  return news.flatMap((one): DescribedNews[] => {
    const message = messages.get(one.subjectId)
    const subscriber = bySubscriber.get(one.subscriberId ?? '')
    if (one.subscriberId !== null && subscriber === undefined) return []
    if (isOfMessage(one)) {
      if (message === undefined) return []
      return [{ one, workflowId: message.workflowId, data: { ...messageData(message, one.facts), subscriber } }]
    }
    // One that was deleted is not part of the event; endpoints that name other workflows do not get it.
    const { deletedWorkflowId, ...facts } = one.facts as { deletedWorkflowId?: string; workflow?: NamedWorkflow | null }
    const data = { ...(subscriber === undefined ? {} : { subscriber }), ...facts }
    return [{ one, workflowId: facts.workflow?._id ?? deletedWorkflowId ?? null, data }]
  })
}

const distinct = (ids: readonly string[]): string[] => [...new Set(ids)]

function messageData(message: ShownMessage, facts: MessageFacts): object {
  const { workflowId, workflowIdentifier, workflowName } = message
  return {
    message: {
      _id: message.id,
      channel: message.channel,
      status: facts.status ?? message.status,
      error: facts.error ?? null,
      providerId: facts.providerId ?? message.providerId,
      providerMessageId: facts.providerMessageId ?? message.providerMessageId,
    },
    notificationId: message.notificationId,
    transactionId: message.transactionId,
    workflow: { _id: workflowId, identifier: workflowIdentifier, name: workflowName },
    test: message.isTest || facts.captured === true,
  }
}

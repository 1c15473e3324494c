// What tests of the activity start from: workflows, events, notifications, jobs and messages, put straight into the tables.
import assert from 'node:assert/strict'
import { oneStatement } from '../../src/db/one-statement.ts'
import type { Tx } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { atOnce, over } from '../../src/domain/delivery/due.ts'
import type { JobState, JobStatus } from '../../src/domain/delivery/job.ts'
import { jobIdOf, messageIdOf, notificationIdOf } from '../../src/domain/derived-id.ts'
import type { Environment } from '../../src/domain/environment.ts'
import type { DetailCode, StoredDetail } from '../../src/domain/insight/execution-detail.ts'
import { detail } from '../../src/domain/insight/execution-detail.ts'
import type { MessageDraft } from '../../src/domain/messages/message.ts'
import type { NotificationStep, RunnableStepType, WorkflowDefinition } from '../../src/domain/workflows/workflow.ts'
import type { NewEvent } from '../../src/store/events/events.ts'
import { claimTransactions, eventInsertion } from '../../src/store/events/events.ts'
import { notificationInsertion } from '../../src/store/events/notifications.ts'
import { jobInsertions } from '../../src/store/jobs/insert.ts'
import type { NewMessage } from '../../src/store/messages/insert.ts'
import { messageInsertions } from '../../src/store/messages/insert.ts'
import type { StoredDefinition } from '../../src/store/workflows/workflows.ts'
import { insertVersion, insertWorkflow, updateWorkflow } from '../../src/store/workflows/workflows.ts'
import type { Json, TestApp } from './app.ts'
import { addSubscribers, environmentOf } from './topic-scene.ts'

export interface SceneWorkflow {
  readonly id: string
  readonly versionId: string
  readonly identifier: string
  readonly definition: StoredDefinition
}

export interface SceneNotification {
  readonly id: string
  readonly eventId: string
  readonly subscriberId: string
  readonly workflow: SceneWorkflow
}

export interface SceneEvent {
  readonly id: string
  readonly transactionId: string
  readonly notifications: readonly SceneNotification[]
}

export interface SceneRun {
  readonly event: SceneEvent
  readonly notification: SceneNotification
  /** The subscriberId, and the workflow's identifier. */
  readonly name: string
}

/** Whom an event is for, by internal id. */
export interface SceneRecipient {
  readonly subscriberId: string
  readonly recipient?: Record<string, unknown>
  readonly topicIds?: readonly string[]
}

export interface SceneJob {
  readonly step: number
  readonly status: JobStatus
  readonly details?: readonly StoredDetail[]
  readonly state?: JobState
  readonly at?: Date
}

export const stepOf = (
  type: RunnableStepType,
  more: Partial<Omit<NotificationStep, 'template'>> & { template?: Partial<NotificationStep['template']> } = {},
): NotificationStep => ({
  _id: `step-${type}`,
  uuid: `uuid-${type}`,
  _templateId: `template-${type}`,
  active: true,
  shouldStopOnFail: false,
  filters: [],
  variants: [],
  ...more,
  template: { type, content: 'Hello', ...more.template },
})

/** A detail at a time, in short form. */
export const reported = (at: Date, code: DetailCode, more: Parameters<typeof detail>[2] = {}): StoredDetail =>
  detail(at, code, more)

export class ActivityScene {
  readonly app: TestApp
  readonly environment: Environment
  private runs = 0

  private constructor(app: TestApp, environment: Environment) {
    this.app = app
    this.environment = environment
  }

  static async of(app: TestApp, environmentName = 'Development'): Promise<ActivityScene> {
    return new ActivityScene(app, await environmentOf(app, environmentName))
  }

  /** Saved again under the same identifier it becomes a new version. */
  async addWorkflow(
    identifier: string,
    steps: readonly NotificationStep[],
    more: Partial<WorkflowDefinition> & { variables?: readonly string[] } = {},
    before?: SceneWorkflow,
  ): Promise<SceneWorkflow> {
    const definition: StoredDefinition = {
      name: `Workflow ${identifier}`,
      description: '',
      tags: [],
      critical: false,
      preferenceSettings: { in_app: true, email: true, sms: true, chat: true, push: true },
      severity: 'none',
      variables: [],
      subscriberVariables: [],
      ...more,
      steps,
    }
    const now = this.app.world.now()
    const workflow = { id: before?.id ?? this.newId(), versionId: this.newId(), identifier, definition }
    await this.write(async (tx) => {
      const origin = 'v1' as const
      const fields = { ...workflow, active: true, origin, groupId: await this.groupId(tx), createdBy: 'key', now }
      if (before === undefined) await insertWorkflow(tx, this.environment, fields)
      else await updateWorkflow(tx, this.environment, fields)
      await insertVersion(tx, this.environment, { ...workflow, id: workflow.versionId, workflowId: workflow.id, now })
    })
    return workflow
  }

  /** An event at the world's time, and a notification for each recipient. A transactionId that is given is claimed. */
  async addEvent(
    workflow: SceneWorkflow,
    recipients: readonly SceneRecipient[],
    more: Partial<NewEvent> = {},
  ): Promise<SceneEvent> {
    const createdAt = this.app.world.now()
    const id = this.app.world.newId(createdAt)
    const event: NewEvent = {
      id,
      transactionId: id,
      workflowId: workflow.id,
      versionId: workflow.versionId,
      payload: {},
      overrides: {},
      actorId: null,
      tenantId: null,
      contextKeys: null,
      severity: null,
      lane: 0,
      recipients: null,
      topics: [],
      excluded: [],
      warnings: [],
      notified: recipients.length,
      isBroadcast: false,
      attachments: 0,
      createdAt,
      expandedAt: createdAt,
      ...more,
    }
    const notifications = recipients.map(({ subscriberId, recipient, topicIds }) => ({
      id: notificationIdOf(event.id, subscriberId),
      eventId: event.id,
      subscriberId,
      versionId: workflow.versionId,
      recipient: recipient ?? null,
      topicIds: topicIds ?? null,
    }))
    await this.write(async (tx) => {
      const { transactionId } = event
      if (transactionId !== event.id)
        await claimTransactions(tx, this.environment, [{ transactionId, eventId: event.id }])
      const parts = notifications.length === 0 ? [] : [notificationInsertion(this.environment, notifications)]
      await tx.run(oneStatement([eventInsertion(this.environment, [event]), ...parts]))
    })
    return {
      id: event.id,
      transactionId: event.transactionId,
      notifications: notifications.map((one) => ({ ...one, workflow })),
    }
  }

  /** The jobs' ids, in the order given. */
  async addJobs(notification: SceneNotification, jobs: readonly SceneJob[]): Promise<string[]> {
    const { eventId, subscriberId, workflow } = notification
    const rows = jobs.map(({ step, status, details, state }) => ({
      id: jobIdOf(eventId, notification.id, step),
      notificationId: notification.id,
      eventId,
      subscriberId,
      versionId: workflow.versionId,
      step,
      status,
      due: status === 'queued' ? atOnce : over,
      lane: 0,
      digestId: null,
      state: state ?? null,
      details: details ?? [],
    }))
    await this.write(async (tx) => {
      for (const [index, row] of rows.entries()) {
        const now = jobs[index]?.at ?? this.app.world.now()
        const insertLease = { clock: () => sql`${now}::timestamptz`, lease: null, leaseMs: 0, now }
        await tx.run(oneStatement(jobInsertions(this.environment, [row], insertLease)))
      }
    })
    return rows.map((row) => row.id)
  }

  /** The message's id. */
  async addMessage(
    notification: SceneNotification,
    step: number,
    draft: Partial<MessageDraft>,
    more: Partial<NewMessage> = {},
  ): Promise<string> {
    const { eventId, subscriberId, workflow } = notification
    const jobId = jobIdOf(eventId, notification.id, step)
    const message: NewMessage = {
      id: messageIdOf(eventId, jobId, draft.target ?? ''),
      eventId,
      notificationId: notification.id,
      jobId,
      subscriberId,
      versionId: workflow.versionId,
      step,
      draft: { target: '', channel: 'in_app', content: 'Hello', ...draft },
      state: 'done',
      status: 'sent',
      providerId: 'platform',
      integrationId: null,
      sending: null,
      error: null,
      contextKeys: null,
      severity: null,
      isTest: false,
      deliveredAt: null,
      createdAt: this.app.world.now(),
      ...more,
    }
    const itsJob = sql`select ${jobId}::uuid`
    await this.write((tx) => tx.run(oneStatement(messageInsertions(this.environment, [message], itsJob))))
    return message.id
  }

  /** A digest's window that gathered these events. */
  async addWindow(windowId: string, events: readonly SceneEvent[]): Promise<void> {
    await this.write((tx) =>
      tx.run(sql`
        insert into digest_events (environment_id, window_id, seq, event_id)
        select environment_id, ${windowId}, seq, id from events
        where environment_id = ${this.environment.id} and id = any(${events.map((event) => event.id)}::uuid[])`),
    )
  }

  /** A subscriber of their own, a workflow of these steps, and an event for the one with the other. */
  async run(steps: readonly NotificationStep[], more: Partial<NewEvent> = {}): Promise<SceneRun> {
    this.runs += 1
    const name = `run-${this.runs}`
    const [subscriberId] = (await addSubscribers(this.app, [name], this.environment.name)).values()
    const event = await this.addEvent(
      await this.addWorkflow(name, steps),
      [{ subscriberId: subscriberId ?? assert.fail('no subscriber') }],
      more,
    )
    return { event, notification: event.notifications[0] ?? assert.fail('no notification'), name }
  }

  /** An item by itself, as the API answers it. */
  async retrieve(notification: { readonly id: string }): Promise<Json> {
    const reply = await this.app.call('GET', `/v1/notifications/${notification.id}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.body
  }

  /** The only item of a transaction, as the list has it. */
  async listed(transactionId: string): Promise<Json> {
    const reply = await this.app.call('GET', `/v1/notifications?transactionId=${transactionId}`)
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.body.data.length, 1)
    return reply.body.data[0]
  }

  newId(): string {
    return this.app.world.newId(this.app.world.now())
  }

  private async groupId(tx: Tx): Promise<string> {
    const now = this.app.world.now()
    await tx.run(sql`
      insert into notification_groups (environment_id, id, name, created_at, updated_at)
      values (${this.environment.id}, ${this.newId()}, 'Scenes', ${now}, ${now}) on conflict do nothing`)
    const row = await tx.row<{ id: string }>(
      sql`select id from notification_groups where environment_id = ${this.environment.id} and name = 'Scenes'`,
    )
    return row?.id ?? ''
  }

  private async write(work: (tx: Tx) => Promise<unknown>): Promise<void> {
    await this.app.database.db.transaction(work)
  }
}

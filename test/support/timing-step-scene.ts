// What a step without a message of its own is given when its turn comes: delay, digest, throttle, custom.
import type { Job } from '../../src/domain/delivery/job.ts'
import { createIdSource } from '../../src/domain/uuid-v7.ts'
import type { Renderer } from '../../src/domain/workflows/rendering.ts'
import { RenderError } from '../../src/domain/workflows/rendering.ts'
import type { NotificationStep } from '../../src/domain/workflows/workflow.ts'
import type { StepInput } from '../../src/steps/step.ts'

const newId = createIdSource()

type TimingType = 'delay' | 'digest' | 'throttle' | 'custom'

export interface TimingScene {
  readonly type: TimingType
  /** Anything, as if it came from a database that another version wrote. */
  readonly metadata: unknown
  readonly now: string
  /** The time of the event; now unless given. */
  readonly acceptedAt?: string
  readonly payload?: Readonly<Record<string, unknown>>
  readonly overrides?: Readonly<Record<string, unknown>>
  readonly timezone?: string
  readonly job?: Partial<Job>
  /** What makes a text of a template; without it none may be rendered. */
  readonly value?: Renderer['value']
}

export function timingStep(type: TimingType, metadata: unknown): NotificationStep {
  return {
    _id: newId(new Date(0)),
    uuid: 'step',
    _templateId: newId(new Date(0)),
    active: true,
    shouldStopOnFail: false,
    template: { type },
    filters: [],
    variants: [],
    ...(metadata === undefined ? {} : { metadata: metadata as NonNullable<NotificationStep['metadata']> }),
  }
}

export function timingInput(scene: TimingScene): StepInput {
  const now = new Date(scene.now)
  const step = timingStep(scene.type, scene.metadata)
  const payload = scene.payload ?? {}
  return {
    now,
    job: jobOf(new Date(scene.acceptedAt ?? scene.now), scene.job ?? {}),
    step,
    version: { id: newId(now), workflowId: newId(now), identifier: 'timing', definition: definitionOf(step) },
    event: { payload, overrides: scene.overrides ?? {}, transactionId: 'transaction' },
    subscriber: {
      id: newId(now),
      subscriberId: 'ada',
      email: null,
      phone: null,
      timezone: scene.timezone ?? null,
    },
    scope: {
      payload,
      subscriber: {},
      actor: undefined,
      tenant: undefined,
      context: {},
      step: { digest: false, events: [payload], total_count: 1 },
      workflow: { identifier: 'timing', name: 'Timing', tags: [], data: {} },
    },
    channels: [],
    integrations: [],
    renderer: { email: unused, inApp: unused, text: unused, value: unused, fields: fieldsBy(scene), values: unused },
    templateKey: 'timing',
  }
}

const fieldsBy =
  ({ value = unused }: TimingScene): Renderer['fields'] =>
  (_key, fields, scope) =>
    fields.map(({ path, text }) => {
      try {
        return value(text, scope)
      } catch (error) {
        throw error instanceof RenderError ? new RenderError(path, error.message) : error
      }
    })

function jobOf(acceptedAt: Date, change: Partial<Job>): Job {
  return {
    environmentId: newId(acceptedAt),
    id: newId(acceptedAt),
    notificationId: newId(acceptedAt),
    eventId: newId(acceptedAt),
    subscriberId: newId(acceptedAt),
    versionId: newId(acceptedAt),
    step: 0,
    status: 'queued',
    lane: 0,
    lease: newId(acceptedAt),
    interruptions: 0,
    faults: 0,
    faultedSince: null,
    digestId: null,
    state: null,
    ...change,
  }
}

const definitionOf = (step: NotificationStep) => ({
  name: 'Timing',
  description: '',
  tags: [],
  critical: false,
  preferenceSettings: { in_app: true, email: true, sms: true, chat: true, push: true },
  severity: 'none' as const,
  steps: [step],
})

function unused(): never {
  throw new Error('This step renders nothing')
}

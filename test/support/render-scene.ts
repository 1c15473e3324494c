// What rendering needs in tests: a scope of variables, a step around a template, and the time that is now.
import type { Renderer, TemplateScope } from '../../src/domain/workflows/rendering.ts'
import { RenderError } from '../../src/domain/workflows/rendering.ts'
import type { NotificationStep, StepTemplate } from '../../src/domain/workflows/workflow.ts'
import { createRenderer } from '../../src/render/renderer.ts'
import type { StepInput } from '../../src/steps/step.ts'

export const sceneNow = new Date('2024-03-15T12:30:45.678Z')

export function scopeWith(
  payload: Readonly<Record<string, unknown>> = {},
  subscriber: Readonly<Record<string, unknown>> = {},
): TemplateScope {
  return {
    ...payload,
    payload,
    subscriber: { subscriberId: 'ann', firstName: 'Ann', locale: 'en', timezone: 'Europe/Berlin', ...subscriber },
    actor: undefined,
    tenant: undefined,
    context: {},
    step: { digest: false, events: [payload], total_count: 1 },
    workflow: { identifier: 'orders', name: 'Orders', tags: ['shop'], data: {} },
  }
}

let keys = 0

/** A key that no test has used. */
export function freshKey(): string {
  keys += 1
  return `key-${keys}`
}

export const sceneRenderer: Renderer = createRenderer(() => sceneNow)

/** The text as plain text. */
export function plain(
  text: string,
  payload?: Readonly<Record<string, unknown>>,
  subscriber?: Readonly<Record<string, unknown>>,
): string {
  return sceneRenderer.value(text, scopeWith(payload, subscriber))
}

/** The text as HTML that is used as it is: no layout, no sanitising. */
export function html(text: string, payload?: Readonly<Record<string, unknown>>): string {
  const template: StepTemplate = {
    type: 'email',
    subject: 's',
    contentType: 'customHtml',
    content: text,
    layoutId: null,
  }
  return sceneRenderer.email(freshKey(), template, scopeWith(payload)).html
}

/** What is reported of a template that gives nothing. */
export function renderError(render: () => unknown): { field: string; message: string } {
  try {
    render()
  } catch (error) {
    if (error instanceof RenderError) return { field: error.field, message: error.message }
    throw error
  }
  throw new Error('Nothing was wrong')
}

export function stepWith(template: StepTemplate): NotificationStep {
  return {
    _id: 'step-1',
    uuid: 'uuid-1',
    _templateId: 'template-1',
    active: true,
    shouldStopOnFail: false,
    template,
    filters: [],
    variants: [],
  }
}

export function stepInput(
  template: StepTemplate,
  scene: {
    payload?: Readonly<Record<string, unknown>>
    overrides?: Readonly<Record<string, unknown>>
    email?: string | null
    phone?: string | null
    channels?: StepInput['channels']
    integrations?: StepInput['integrations']
  } = {},
): StepInput {
  const { payload = {}, overrides = {}, email = 'ann@example.com', phone = null } = scene
  const { channels = [], integrations = [] } = scene
  return {
    now: sceneNow,
    job: {
      environmentId: 'environment-1',
      id: 'job-1',
      notificationId: 'notification-1',
      eventId: 'event-1',
      subscriberId: 'subscriber-1',
      versionId: 'version-1',
      step: 0,
      status: 'queued',
      lane: 0,
      lease: 'lease-1',
      interruptions: 0,
      faults: 0,
      faultedSince: null,
      digestId: null,
      state: null,
    },
    step: stepWith(template),
    version: {
      id: 'version-1',
      workflowId: 'workflow-1',
      identifier: 'orders',
      definition: {
        name: 'Orders',
        description: '',
        tags: ['shop', 'order'],
        critical: false,
        preferenceSettings: { in_app: true, email: true, sms: true, chat: true, push: true },
        severity: 'none',
        steps: [],
      },
    },
    event: { payload, overrides, transactionId: 'transaction-1' },
    subscriber: { id: 'subscriber-1', subscriberId: 'ann', email, phone, timezone: null },
    channels,
    integrations,
    scope: scopeWith(payload),
    renderer: sceneRenderer,
    templateKey: freshKey(),
  }
}

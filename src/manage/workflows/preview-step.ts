// The content of a step: decided and rendered as in a run, with a given or sample payload; nothing is sent.
import type { Sql } from '../../db/sql.ts'
import type { Answer } from '../../domain/answer.ts'
import { created } from '../../domain/answer.ts'
import type { Decision } from '../../domain/delivery/decision.ts'
import { hiddenSecret } from '../../domain/delivery/hidden-secrets.ts'
import type { Environment, Principal } from '../../domain/environment.ts'
import { mayUse } from '../../domain/environment.ts'
import type { MessageDraft } from '../../domain/messages/message.ts'
import { notFound } from '../../domain/problem.ts'
import type { Variables } from '../../domain/workflows/environment-variable.ts'
import { scopeWithVariables, usesVariables, variablesOf } from '../../domain/workflows/environment-variable.ts'
import type { Layout } from '../../domain/workflows/layout.ts'
import { emailLayoutsOf } from '../../domain/workflows/layout.ts'
import { callWithoutSecrets, stepWithoutSecrets } from '../../domain/workflows/shown-secrets.ts'
import { idOfSlug } from '../../domain/workflows/slug.ts'
import type { Controls } from '../../domain/workflows/step-controls.ts'
import { controlPath, controlsOf } from '../../domain/workflows/step-controls.ts'
import type { Translations } from '../../domain/workflows/translation.ts'
import {
  flatTexts,
  localesOf,
  preferredDefault,
  translationsOf,
  usesTranslations,
} from '../../domain/workflows/translation.ts'
import type { NotificationStep } from '../../domain/workflows/workflow.ts'
import { decideElsewhere, elsewhereOnly } from '../../render/elsewhere.ts'
import { examineAhead } from '../../render/examine.ts'
import { createRenderer } from '../../render/renderer.ts'
import { stepOf } from '../../steps/registry.ts'
import type { StepInput } from '../../steps/step.ts'
import { listVariables } from '../../store/operate/environment-variables.ts'
import { findSubscriberRows, subscriberOf } from '../../store/people/subscribers.ts'
import { findDefaultLayout, findLayout } from '../../store/workflows/layouts.ts'
import { findTranslations } from '../../store/workflows/translations.ts'
import type { WorkflowRow } from '../../store/workflows/workflows.ts'
import { findWorkflow } from '../../store/workflows/workflows.ts'
import type { World } from '../../world/world.ts'
import { unknownSubscriber } from '../people/subscribers.ts'
import type { PreviewPayload, PreviewSample } from './preview-sample.ts'
import { sampleOf, scopeOfSample } from './preview-sample.ts'
import { refuseMistakes, stepMistakes, unknownWorkflow } from './workflow-rules.ts'
import type { Mistake } from './workflow-steps.ts'
import { arrangeSteps } from './workflow-steps.ts'
import { stepsOfV2 } from './workflow-v2-steps.ts'

export interface StepPreview {
  readonly result: { readonly type: string; readonly preview: Readonly<Record<string, unknown>> }
  readonly previewPayloadExample: PreviewSample
}

export const unknownStep = (id: string) => notFound(`Step ${id} was not found in this workflow`)

export async function previewStep(
  db: Sql,
  world: World,
  principal: Principal,
  call: {
    workflowId: string
    stepId: string
    controlValues?: Controls | null
    previewPayload?: PreviewPayload
    /** A stored subscriber, as whom the step is seen. */
    subscriberId?: string | undefined
    /** What the caller calls the payload. */
    payloadPath?: string
  },
): Promise<Answer<StepPreview>> {
  const { environment } = principal
  const row = await findByAnyName(db, environment, call.workflowId)
  if (row === undefined) throw unknownWorkflow(call.workflowId)
  const stored = stepCalled(row.definition.steps, call.stepId)
  if (stored === undefined) throw unknownStep(call.stepId)
  await examineAhead(world.threads, call.controlValues)
  const step = call.controlValues ? controlled(stored, call.controlValues, world) : stored
  const person = call.subscriberId === undefined ? undefined : await personCalled(db, environment, call.subscriberId)
  const sample = sampleOf(row, step, call.previewPayload ?? {}, person)
  const input = await inputOf(db, world, environment, row, step, sample)
  // What is not saved is not rendered in the turn of others.
  const decision = await decideElsewhere({
    threads: world.threads,
    renderer: input.renderer,
    first: call.controlValues ? elsewhereOnly : (input.renderer.small ?? input.renderer),
    now: () => input.now,
    decide: (renderer) => stepOf(step.template.type).decide({ ...input, renderer }),
  })
  if (decision.kind === 'fail') throw refusal(decision, step, call.payloadPath ?? 'previewPayload.payload')
  const preview = previewOf(decision, step, mayUse(principal, 'full'))
  return created({ result: { type: step.template.type, preview }, previewPayloadExample: sample })
}

/** As templates see them. */
async function personCalled(db: Sql, environment: Environment, subscriberId: string): Promise<Record<string, unknown>> {
  const [row] = await findSubscriberRows(db, environment, [subscriberId])
  if (row === undefined) throw unknownSubscriber(subscriberId)
  const { _id, firstName, lastName, email, phone, avatar, locale, timezone, data } = subscriberOf(environment, row, [])
  return { _id, subscriberId, firstName, lastName, email, phone, avatar, locale, timezone, data: data ?? {} }
}

/** By id, identifier or slug. */
export async function findByAnyName(db: Sql, environment: Environment, name: string): Promise<WorkflowRow | undefined> {
  const found = await findWorkflow(db, environment, name)
  const slugged = idOfSlug('wf', name)
  return found ?? (slugged === undefined ? undefined : await findWorkflow(db, environment, slugged))
}

/** By id, by uuid (the stepId of API v2) or by slug. */
export function stepCalled(steps: readonly NotificationStep[], name: string): NotificationStep | undefined {
  const slugged = idOfSlug('st', name)
  return steps.find((step) => step._id === name || step.uuid === name) ?? steps.find((step) => step._id === slugged)
}

/** The step with other controls, refused as it would be when it is saved. */
function controlled(stored: NotificationStep, controlValues: Controls, world: World): NotificationStep {
  const given = { _id: stored._id, name: stored.name ?? stored.uuid, type: stored.template.type, controlValues }
  const { steps, mistakes } = stepsOfV2([given], [stored])
  refuseMistakes(mistakes.map(belowControls))
  const arranged = arrangeSteps(steps, [stored], () => world.newId(world.now()))
  const [made] = arranged.steps
  if (made === undefined) throw new Error('A step was lost while steps were put in order')
  refuseMistakes(stepMistakes(arranged.steps).map((mistake) => atTemplate(made.step, belowSteps(mistake))))
  return made.step
}

const belowSteps = ({ path, message }: Mistake): Mistake => ({ path: path.replace(/^steps\.0\./, ''), message })
const belowControls = (mistake: Mistake): Mistake => belowSteps(mistake)
const atTemplate = ({ template }: NotificationStep, { path, message }: Mistake): Mistake => ({
  path: controlPath(template, path),
  message,
})

async function inputOf(
  db: Sql,
  world: World,
  environment: Environment,
  row: WorkflowRow,
  step: NotificationStep,
  sample: PreviewSample,
): Promise<StepInput> {
  const now = world.now()
  const newId = () => world.newId(now)
  const { subscriber } = sample
  const layouts = step.template.type === 'email' ? await layoutsFor(db, environment, step) : []
  // The frame may speak several languages where the step does not.
  const isTranslated = usesTranslations(JSON.stringify([step, layouts]))
  const translations = isTranslated ? await translationsFor(db, environment, subscriber['locale']) : undefined
  const variables = usesVariables(JSON.stringify([step, layouts]))
    ? await variablesFor(db, world, environment)
    : undefined
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
  return {
    now,
    job: {
      environmentId: environment.id,
      id: newId(),
      notificationId: newId(),
      eventId: newId(),
      subscriberId: newId(),
      versionId: row.version_id,
      step: row.definition.steps.findIndex((one) => one._id === step._id),
      status: 'queued',
      lane: 0,
      lease: '',
      interruptions: 0,
      faults: 0,
      faultedSince: null,
      digestId: null,
      state: null,
    },
    step,
    version: { id: row.version_id, workflowId: row.id, identifier: row.identifier, definition: row.definition },
    event: { payload: sample.payload, overrides: {}, transactionId: 'preview' },
    subscriber: {
      id: newId(),
      subscriberId: text(subscriber['subscriberId']) ?? 'preview',
      email: text(subscriber['email']),
      phone: text(subscriber['phone']),
      timezone: text(subscriber['timezone']),
    },
    channels: [],
    integrations: [],
    scope: {
      ...scopeOfSample(row, sample, translations),
      ...(variables && scopeWithVariables(variables, sample.payload)),
    },
    ...(layouts.length === 0 ? {} : { layouts: emailLayoutsOf(layouts) }),
    // Separate, so that nothing is cached for a trial.
    renderer: createRenderer(() => now),
    templateKey: 'preview',
  }
}

/** The layout that the step can use: the one it names, or its replacement. */
async function layoutsFor(db: Sql, environment: Environment, { template }: NotificationStep): Promise<Layout[]> {
  const { layoutId } = template
  if (layoutId === null || layoutId === 'none') return []
  const named = layoutId ? await findLayout(db, environment, layoutId) : undefined
  const found = named ?? (await findDefaultLayout(db, environment))
  return found === undefined ? [] : [found]
}

/** Secret ones are not shown. */
export async function variablesFor(db: Sql, world: World, environment: Environment): Promise<Variables> {
  const all = await listVariables(db, world.sealer, environment)
  return variablesOf(all.map((one) => (one.isSecret ? { ...one, value: hiddenSecret } : one)))
}

/** No more of them than this subscriber can get. */
export async function translationsFor(db: Sql, environment: Environment, locale: unknown): Promise<Translations> {
  const locales = typeof locale === 'string' ? localesOf(locale) : []
  const rows = await findTranslations(db, environment, { locales, preferredDefault })
  return translationsOf(rows.map(({ locale, texts }) => ({ locale, texts: flatTexts(texts).texts })))
}

/** The result of the decision, in the format of API v2. Without secrets unless the caller may see them. */
function previewOf(
  decision: Exclude<Decision, { kind: 'fail' }>,
  stored: NotificationStep,
  isFull: boolean,
): Readonly<Record<string, unknown>> {
  const step = isFull ? stored : stepWithoutSecrets(stored)
  switch (decision.kind) {
    case 'deliver':
    case 'unreachable':
      return saidBy(decision.message)
    case 'send': {
      const [message] = decision.messages
      return message === undefined ? {} : saidBy(message)
    }
    case 'callOut': {
      const { url, method, headers, body } = decision
      const call = isFull ? { url, headers } : callWithoutSecrets({ url, headers })
      return { ...call, method, body: JSON.parse(body) as unknown }
    }
    case 'wait':
      return { ...controlsOf(step), until: decision.until.toISOString() }
    case 'joinDigest':
      return { ...controlsOf(step), until: decision.dueAt.toISOString() }
    case 'takeThrottle':
      return { ...controlsOf(step), until: decision.until.toISOString() }
    default:
      return controlsOf(step)
  }
}

function saidBy({
  channel,
  content,
  subject,
  title,
  cta,
  actor,
  data,
  envelope,
}: MessageDraft): Record<string, unknown> {
  if (channel === 'email') {
    const mail = envelope !== undefined && 'html' in envelope ? envelope : undefined
    return { subject: subject ?? '', body: mail?.html ?? content, ...(mail === undefined ? {} : { text: mail.text }) }
  }
  if (channel === 'push') return { subject: title ?? '', body: content }
  if (channel !== 'in_app') return { body: content }
  const shown = {
    template: { type: 'in_app', content, ...(subject === undefined ? {} : { subject }), cta, actor, data },
  }
  return controlsOf(shown as Pick<NotificationStep, 'template'>)
}

/** A detail that is longer than is kept is cut, and no JSON any more. */
function errorIn(raw: string | undefined): { field?: unknown; message?: unknown; error?: unknown } {
  try {
    return JSON.parse(raw ?? '{}') as object
  } catch {
    return { message: raw }
  }
}

/** What could not be rendered, or not be decided with this payload. */
function refusal({ details }: Extract<Decision, { kind: 'fail' }>, step: NotificationStep, payloadPath: string): never {
  const raw = errorIn(details.at(-1)?.raw)
  const field = typeof raw.field === 'string' ? raw.field.replaceAll(/\[(\d+)\]/g, '.$1') : payloadPath
  const path = controlPath(step.template, field)
  const message = String(raw.message ?? raw.error ?? 'cannot be previewed with this payload')
  refuseMistakes([{ path, message }])
  throw new Error('An invalid step was not rejected')
}

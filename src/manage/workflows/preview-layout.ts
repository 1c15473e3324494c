// A layout around a sample body, rendered as in an e-mail; nothing is saved or sent.
import type { Sql } from '../../db/sql.ts'
import type { Answer } from '../../domain/answer.ts'
import { created } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import { invalidField } from '../../domain/problem.ts'
import { scopeWithVariables, usesVariables } from '../../domain/workflows/environment-variable.ts'
import type { TemplateScope } from '../../domain/workflows/rendering.ts'
import { RenderError } from '../../domain/workflows/rendering.ts'
import { filledUp } from '../../domain/workflows/sample-payload.ts'
import { translations, usesTranslations } from '../../domain/workflows/translation.ts'
import type { StepTemplate } from '../../domain/workflows/workflow.ts'
import { decideElsewhere, elsewhereOnly } from '../../render/elsewhere.ts'
import { createRenderer } from '../../render/renderer.ts'
import { findLayout } from '../../store/workflows/layouts.ts'
import type { World } from '../../world/world.ts'
import { demandGoodContent, unknownLayout } from './layouts.ts'
import { sampleSubscriber } from './preview-sample.ts'
import { translationsFor, variablesFor } from './preview-step.ts'

type JsonObject = Readonly<Record<string, unknown>>

export interface LayoutPreview {
  readonly result: { readonly type: 'email'; readonly preview: { readonly body: string } }
  readonly previewPayloadExample: { readonly subscriber: JsonObject }
}

/** What stands in the place of the e-mail. */
const sampleBody: StepTemplate = {
  type: 'email',
  subject: 'Subject',
  contentType: 'customHtml',
  content: '<p>The content of the e-mail is shown here.</p>',
}

export async function previewLayout(
  db: Sql,
  world: World,
  environment: Environment,
  call: {
    layoutId: string
    /** In place of what is saved. */
    content?: string | undefined
    subscriber?: JsonObject | null | undefined
    contentField: string
  },
): Promise<Answer<LayoutPreview>> {
  const stored = await findLayout(db, environment, call.layoutId)
  if (stored === undefined) throw unknownLayout(call.layoutId)
  if (call.content !== undefined) demandGoodContent(call.content, call.contentField)
  const content = call.content ?? stored.content
  const subscriber = filledUp(call.subscriber ?? undefined, sampleSubscriber) as JsonObject
  const texts = usesTranslations(content)
    ? { [translations]: await translationsFor(db, environment, subscriber['locale']) }
    : {}
  const variables = usesVariables(content) ? await variablesFor(db, world, environment) : undefined
  const values = variables === undefined ? {} : scopeWithVariables(variables, {})
  const scope: TemplateScope = { ...plainScope, ...texts, ...values, subscriber }
  const { _id, identifier } = stored
  const frame = { _id, identifier, content, key: 'preview' }
  const now = world.now()
  const renderer = createRenderer(() => now)
  try {
    const { html } = await decideElsewhere({
      threads: world.threads,
      renderer,
      first: elsewhereOnly,
      now: () => now,
      decide: (one) => one.email('preview', sampleBody, scope, frame),
    })
    return created({ result: { type: 'email', preview: { body: html } }, previewPayloadExample: { subscriber } })
  } catch (error) {
    if (!(error instanceof RenderError)) throw error
    throw invalidField(call.contentField, `${call.contentField} ${error.message}`)
  }
}

const plainScope = {
  payload: {},
  actor: undefined,
  tenant: undefined,
  context: {},
  step: { digest: false, events: [], total_count: 1 },
  workflow: { identifier: '', name: '', tags: [], data: {} },
}

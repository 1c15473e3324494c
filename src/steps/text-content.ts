// What SMS, chat and push have in common: a plain text, and ids that travel with it.
import type { TextContent } from '../domain/workflows/rendering.ts'
import { RenderError } from '../domain/workflows/rendering.ts'
import type { StepTemplate } from '../domain/workflows/workflow.ts'
import type { StepInput, StepMistake } from './step.ts'

export function textMistakes({ content }: StepTemplate, what: string): StepMistake[] {
  const path = 'template.content'
  if (content === undefined || content === '') return [{ path, message: `is missing: ${what} needs content` }]
  if (typeof content !== 'string') return [{ path, message: `must be a string: ${what} has no blocks` }]
  return content.trim() === '' ? [{ path, message: `is missing: ${what} needs content` }] : []
}

/** Throws a RenderError if the result is empty: no one wants an empty message, and providers reject it. */
export function renderedText({ step, scope, renderer, templateKey }: StepInput): TextContent {
  const text = renderer.text(templateKey, step.template, scope)
  if (text.content === '' && (text.title ?? '') === '') {
    throw new RenderError('template.content', 'renders to nothing for this event')
  }
  return text
}

/** For receipts and webhooks. */
export function metadataOf({ event, version, subscriber }: StepInput): Readonly<Record<string, string>> {
  return {
    transactionId: event.transactionId,
    workflow: version.identifier,
    subscriberId: subscriber.subscriberId,
  }
}

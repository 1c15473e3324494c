// The sender and the reply-to address of an e-mail, if the step itself sets them.
import { isEmail } from '../domain/people/subscriber.ts'
import type { StepTemplate } from '../domain/workflows/workflow.ts'
import { emailAddress } from './email-overrides.ts'
import { optional } from './override-fields.ts'
import type { StepInput, StepMistake } from './step.ts'

export interface TemplateSender {
  readonly from?: string
  readonly senderName?: string
  readonly replyTo?: string
}

/** Throws a RenderError if the result is not an address. */
export function templateSender({ step, scope, renderer }: StepInput): TemplateSender {
  const { from, replyTo } = step.template
  if (from === undefined && replyTo === undefined) return {}
  const address = (path: string, text: string | undefined): string | undefined => {
    const rendered = text === undefined ? '' : renderer.value(text, scope).trim()
    return rendered === '' ? undefined : emailAddress(path, rendered)
  }
  const name = from?.name === undefined ? '' : oneLine(renderer.value(from.name, scope))
  return {
    ...optional('from', address('template.from.email', from?.email)),
    ...optional('senderName', name === '' ? undefined : name),
    ...optional('replyTo', address('template.replyTo', replyTo)),
  }
}

/** Line breaks become spaces: in a header they would start another. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()

/** What is no template is known when it is saved. */
export function senderMistakes({ from, replyTo }: StepTemplate): StepMistake[] {
  const places = { 'template.from.email': from?.email, 'template.replyTo': replyTo }
  return Object.entries(places).flatMap(([path, text]) => {
    if (text === undefined || text === '' || text.includes('{') || isEmail(text.trim())) return []
    return [{ path, message: 'must be an e-mail address such as ann@example.com' }]
  })
}

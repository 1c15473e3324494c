// Single texts that are templates, such as the sender of an e-mail, or the members of a call.
import type { FieldText, TemplateScope } from '../../domain/workflows/rendering.ts'
import { RenderError } from '../../domain/workflows/rendering.ts'
import type { Budget } from '../limits.ts'
import { valueLengthMax } from '../limits.ts'
import type { Template } from '../template.ts'
import { compile } from '../template.ts'

export function compileValue(text: string, field = 'value'): Template {
  if (text.length > valueLengthMax) {
    throw new RenderError(field, `is ${text.length} characters long; at most ${valueLengthMax} are allowed`)
  }
  return compile(field, text, 'plain')
}

/** Not cached: most contain no variable. */
export const renderValue = (text: string, scope: TemplateScope, budget: Budget): string =>
  text.includes('{') ? compileValue(text).render(scope, budget) : text

export interface CompiledFields {
  readonly sourceLength: number
  /** In their order. Throws a RenderError that names the field. */
  render(scope: TemplateScope, budget: Budget): readonly string[]
}

export function compileFields(fields: readonly FieldText[]): CompiledFields {
  const compiled = fields.map(({ path, text }) => (text.includes('{') ? compileValue(text, path) : text))
  return {
    sourceLength: fields.reduce((sum, { text }) => sum + text.length, 0),
    render: (scope, budget) => compiled.map((one) => (typeof one === 'string' ? one : one.render(scope, budget))),
  }
}

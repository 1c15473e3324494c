// A single value that is a template, such as the right-hand side of a condition.
import type { TemplateScope } from '../domain/workflows/rendering.ts'
import { RenderError } from '../domain/workflows/rendering.ts'
import type { Budget } from './limits.ts'
import { valueLengthMax } from './limits.ts'
import { compile } from './template.ts'

/** Not cached: values are many and short, and most contain no variable. */
export function renderValue(text: string, scope: TemplateScope, budget: Budget): string {
  if (!text.includes('{')) return text
  if (text.length > valueLengthMax) {
    throw new RenderError('value', `is ${text.length} characters long; at most ${valueLengthMax} are allowed`)
  }
  return compile('value', text, 'plain').render(scope, budget)
}

// The HTML of an e-mail and its text part, compiled together: both are written while the template runs.
import type { TemplateScope } from '../../domain/workflows/rendering.ts'
import type { Mode } from '../engine.ts'
import type { Budget } from '../limits.ts'
import { compileProgram } from '../liquid/program.ts'
import { Run } from '../liquid/run.ts'
import { demandFewTags, harmlessMax } from '../markup.ts'
import { parse } from '../parse.ts'
import { storable } from '../plain-text.ts'
import { inField } from '../template.ts'
import { htmlToText } from '../text/html-to-text.ts'
import type { TextPlan } from '../text/text-plan.ts'
import { textPlanOf } from '../text/text-plan.ts'
import { TextRun } from '../text/text-run.ts'
import { hasStyle, inlineCss } from './inline-css.ts'

export interface RenderedDocument {
  /** As the template returned it. */
  readonly content: string
  /** With its CSS inlined. */
  readonly html: string
  readonly text: string
  /** Whether it is a whole document, and not the content of a body. */
  readonly isWhole: boolean
}

export interface CompiledDocument {
  readonly sourceLength: number
  /** Throws a RenderError that names the field. */
  render(scope: TemplateScope, budget: Budget): RenderedDocument
}

const beginsDocument = /<html[\s>]|<!doctype\s/i

export const isWholeDocument = (html: string): boolean => beginsDocument.test(html)

/** `isInlined` when the CSS of the template is in its elements already. Throws a RenderError that names the field. */
export function compileDocument(field: string, source: string, mode: Mode, isInlined: boolean): CompiledDocument {
  const { program, plan } = inField(field, () => {
    const parsed = parse(source, mode)
    const found = textPlanOf(parsed)
    const plan = found !== undefined && (isInlined || !hasStyle(found.html)) ? found : undefined
    return { plan, program: compileProgram(parsed, mode, plan) }
  })
  const mayBeWhole = plan === undefined || isWholeDocument(plan.html)
  return {
    sourceLength: source.length,
    render(scope, budget) {
      const text = plan && new TextRun()
      const written = inField(field, () => {
        const run = new Run(scope, budget, text)
        program(run)
        return run.out
      })
      const content = storable(written)
      const ready = text && plan && endOf(text, plan)
      // The text was written beside what the content no longer is.
      const isOther = content !== written
      if (text === undefined || ready === undefined || isOther) return readDocument(field, content, isInlined)
      if (text.tags > harmlessMax) demandFewTags(field, content)
      // No value contains a tag: whatever is true of the tags of the template is true of the result.
      return { content, html: content, text: storable(ready), isWhole: mayBeWhole && isWholeDocument(content) }
    },
  }
}

function endOf(text: TextRun, plan: TextPlan): string | undefined {
  text.play(plan.end, 0)
  return text.end()
}

/** What the above gives, from the HTML alone. */
export function readDocument(field: string, content: string, isInlined: boolean): RenderedDocument {
  demandFewTags(field, content)
  const html = !isInlined && hasStyle(content) ? inlineCss(content) : content
  return { content, html, text: storable(htmlToText(html)), isWhole: isWholeDocument(html) }
}

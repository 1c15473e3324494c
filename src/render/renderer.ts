// The renderer: compiled templates are cached by key, and each message has its own budget.
import type { EmailFrame, FieldText, Renderer, RenderRequest, TemplateScope } from '../domain/workflows/rendering.ts'
import { RenderElsewhere } from '../domain/workflows/rendering.ts'
import type { StepTemplate } from '../domain/workflows/workflow.ts'
import { compileEmail, renderEmail } from './email/email.ts'
import { compileLayout } from './email/own-layout.ts'
import { compileInApp, renderInApp } from './in-app.ts'
import { Budget, smallShare } from './limits.ts'
import { createConditionValues } from './single-texts/condition-values.ts'
import { compileFields, renderValue } from './single-texts/value.ts'
import { TemplateCache } from './template-cache.ts'
import { withDefaults } from './template-defaults.ts'
import { compileText, renderText } from './text-message.ts'

/** `now` is what a template's "now" shows. */
export function createRenderer(now: () => Date = () => new Date()): Renderer {
  const emails = new TemplateCache(compileEmail)
  const layouts = new TemplateCache(compileLayout)
  const inApps = new TemplateCache(compileInApp)
  const texts = new TemplateCache(compileText)
  const allFields = new TemplateCache(compileFields)
  const values = createConditionValues(now)
  const of = (share: number): Renderer => ({
    email: (key: string, template: StepTemplate, scope: TemplateScope, frame?: EmailFrame) => {
      const budget = new Budget(now, share)
      try {
        const layout = typeof frame === 'object' ? layouts.of(frame.key, frame) : frame
        return renderEmail(emails.of(key, template), withDefaults(template, scope), budget, layout)
      } catch (error) {
        throw elsewhereIfSmall(error, budget, { kind: 'email', template, scope, frame })
      }
    },
    inApp: (key: string, template: StepTemplate, scope: TemplateScope) => {
      const budget = new Budget(now, share)
      try {
        return renderInApp(inApps.of(key, template), withDefaults(template, scope), budget)
      } catch (error) {
        throw elsewhereIfSmall(error, budget, { kind: 'inApp', template, scope })
      }
    },
    text: (key: string, template: StepTemplate, scope: TemplateScope) => {
      const budget = new Budget(now, share)
      try {
        return renderText(texts.of(key, template), withDefaults(template, scope), budget)
      } catch (error) {
        throw elsewhereIfSmall(error, budget, { kind: 'text', template, scope })
      }
    },
    value: (text: string, scope: TemplateScope) => {
      const budget = new Budget(now, share)
      try {
        return renderValue(text, scope, budget)
      } catch (error) {
        throw elsewhereIfSmall(error, budget, { kind: 'value', text, scope })
      }
    },
    fields: (key: string, fields: readonly FieldText[], scope: TemplateScope) => {
      const budget = new Budget(now, share)
      try {
        return allFields.of(key, fields).render(scope, budget)
      } catch (error) {
        throw elsewhereIfSmall(error, budget, { kind: 'fields', fields, scope })
      }
    },
    // Never in a thread: they are asked for where no one can wait.
    values,
  })
  return { ...of(1), small: of(smallShare) }
}

function elsewhereIfSmall(error: unknown, budget: Budget, request: RenderRequest): unknown {
  return budget.isTooSmall ? new RenderElsewhere(request) : error
}

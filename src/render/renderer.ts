// The renderer: compiled templates are cached by key, and each message has its own budget.
import type { EmailFrame, Renderer, TemplateScope } from '../domain/workflows/rendering.ts'
import type { StepTemplate } from '../domain/workflows/workflow.ts'
import { compileEmail, renderEmail } from './email/email.ts'
import { compileLayout } from './email/own-layout.ts'
import { compileInApp, renderInApp } from './in-app.ts'
import { Budget } from './limits.ts'
import { TemplateCache } from './template-cache.ts'
import { withDefaults } from './template-defaults.ts'
import { compileText, renderText } from './text-message.ts'
import { renderValue } from './value.ts'

/** `now` is what a template's "now" shows. */
export function createRenderer(now: () => Date = () => new Date()): Renderer {
  const emails = new TemplateCache(compileEmail)
  const layouts = new TemplateCache(compileLayout)
  const inApps = new TemplateCache(compileInApp)
  const texts = new TemplateCache(compileText)
  return {
    email: (key: string, template: StepTemplate, scope: TemplateScope, frame?: EmailFrame) =>
      renderEmail(
        emails.of(key, template),
        withDefaults(template, scope),
        new Budget(now),
        typeof frame === 'object' ? layouts.of(frame.key, frame) : frame,
      ),
    inApp: (key: string, template: StepTemplate, scope: TemplateScope) =>
      renderInApp(inApps.of(key, template), withDefaults(template, scope), new Budget(now)),
    text: (key: string, template: StepTemplate, scope: TemplateScope) =>
      renderText(texts.of(key, template), withDefaults(template, scope), new Budget(now)),
    value: (text: string, scope: TemplateScope) => renderValue(text, scope, new Budget(now)),
    values: (scope: TemplateScope) => {
      let budget: Budget | undefined
      return (text) => {
        budget ??= new Budget(now)
        return renderValue(text, scope, budget)
      }
    },
  }
}

// The in-app step: a message that is delivered by being written.
import { detail } from '../domain/insight/execution-detail.ts'
import { orContentFailed } from './content-failed.ts'
import type { Step, StepMistake } from './step.ts'

const providerId = 'platform'

export const inApp: Step = {
  type: 'in_app',

  mistakes({ template: { content } }): StepMistake[] {
    if (typeof content === 'string' && content.trim() !== '') return []
    const message = Array.isArray(content)
      ? 'must be a string: only e-mails have blocks'
      : 'is missing: an in-app message needs content'
    return [{ path: 'template.content', message }]
  },

  decide: ({ now, step, scope, renderer, templateKey }) =>
    orContentFailed(now, () => {
      const { template } = step
      const { content, subject, cta, data, actor = template.actor } = renderer.inApp(templateKey, template, scope)
      return {
        kind: 'deliver',
        message: {
          target: '',
          channel: 'in_app',
          content,
          ...(subject === undefined ? {} : { subject }),
          cta,
          ...(actor === undefined ? {} : { actor }),
          ...(data === undefined ? {} : { data }),
        },
        details: [detail(now, 'messageCreated', { providerId }), detail(now, 'messageSent', { providerId })],
      }
    }),
}

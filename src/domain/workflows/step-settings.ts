// Which content and which settings a step of each type has: forms offer these members; a setting of another type is refused when a
// workflow is saved.
import type { RunnableStepType, StepTemplate } from './workflow.ts'

const everyMessage = ['content', 'variables', 'name'] as const

/** The members of the template that mean something, by type; the other types have no content. */
export const contentOf: Readonly<Partial<Record<RunnableStepType, readonly (keyof StepTemplate)[]>>> = {
  email: [
    ...['subject', 'preheader', 'senderName', 'layoutId', 'contentType'],
    ...['from', 'replyTo', 'disableOutputSanitization', ...everyMessage],
  ] as (keyof StepTemplate)[],
  in_app: ['subject', 'cta', 'actor', 'feedId', 'data', 'disableOutputSanitization', ...everyMessage],
  sms: everyMessage,
  chat: everyMessage,
  push: ['title', ...everyMessage],
}

const duration = ['amount', 'unit']
const recurrence = [...duration, 'timed', 'cron']
const gathering = [...duration, 'digestKey', 'backoff', 'backoffAmount', 'backoffUnit', 'updateMode']
const counting = ['threshold', 'throttleKey']
const wait = 'extendToSchedule'

/** The members of the settings that mean something, by type and by `metadata.type`; the other types have no settings. */
export const settingsOfKinds: Readonly<Partial<Record<RunnableStepType, Readonly<Record<string, readonly string[]>>>>> =
  {
    digest: {
      regular: [...gathering, wait],
      backoff: [...gathering, wait],
      timed: [...recurrence, 'digestKey', wait],
    },
    delay: {
      regular: [...duration, wait],
      scheduled: ['delayPath', wait],
      timed: [...recurrence, wait],
      dynamic: ['dynamicKey', wait],
    },
    throttle: { fixed: [...duration, ...counting], dynamic: ['dynamicKey', ...counting] },
    custom: { http: ['url', 'method', 'headers', 'body', 'timeoutMs', 'continueOnFailure'] },
  }

/** Of all kinds of a type together; undefined for a type without settings. */
export function settingsOf(type: RunnableStepType): ReadonlySet<string> | undefined {
  const kinds = settingsOfKinds[type]
  return kinds === undefined ? undefined : new Set(['type', ...Object.values(kinds).flat()])
}

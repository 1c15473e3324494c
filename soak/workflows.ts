// The workflows of a run, and what each owes to a recipient. A marker in every text says which event it belongs to.
import { wordsTemplate } from './words.ts'

/** `soak:<marker>:<subscriberId>:<step>` is found by the sinks in whatever reaches them. */
const markOf = (step: string): string => `soak:{{ payload.m }}:{{ subscriber.subscriberId }}:${step}`

const inApp = (step: string) => ({
  name: step,
  template: { type: 'in_app', content: `${markOf(step)} ${wordsTemplate}` },
})

const email = (step: string) => ({
  name: step,
  template: {
    type: 'email',
    subject: markOf(step),
    contentType: 'customHtml',
    layoutId: null,
    content: `<p>{{ payload.text }}</p><p>${wordsTemplate}</p><p>[end]</p>`,
  },
})

const sms = (step: string) => ({ name: step, template: { type: 'sms', content: `${markOf(step)} ${wordsTemplate}` } })

const wait = (type: 'digest' | 'delay', seconds: number) => ({
  name: type,
  template: { type },
  metadata: { type: 'regular', amount: seconds, unit: 'seconds' },
})

/** The first event names the message; the list says which events it reports of. */
const digestMark = 'soak:{{ step.events[0].m }}:{{ subscriber.subscriberId }}:digest'
const digestList = '{% for event in step.events %}[{{ event.m }}]{% endfor %}'

export const digestSeconds = 4
export const delaySeconds = 2
export const cancelSeconds = 6

/** How many in-app messages, which e-mails and which SMS a recipient is owed. */
export interface Owed {
  readonly inApp: number
  readonly mails: readonly string[]
  readonly sms: readonly string[]
  /** Until then nothing is owed. */
  readonly afterMs: number
}

export interface SoakWorkflow {
  readonly steps: readonly { readonly name: string; readonly template: object }[]
  readonly owed: Owed
}

const owes = (owed: Partial<Owed>): Owed => ({ inApp: 0, mails: [], sms: [], afterMs: 0, ...owed })

export const workflows: Readonly<Record<string, SoakWorkflow>> = {
  'soak-in-app': { steps: [inApp('bell')], owed: owes({ inApp: 1 }) },
  'soak-mail': { steps: [inApp('bell'), email('mail')], owed: owes({ inApp: 1, mails: ['mail'] }) },
  // The step after the SMS shows that the run continues when the SMS is skipped.
  'soak-sms': { steps: [sms('sms'), inApp('bell')], owed: owes({ inApp: 1, sms: ['sms'] }) },
  'soak-delay': {
    steps: [inApp('before'), wait('delay', delaySeconds), inApp('after'), email('late')],
    owed: owes({ inApp: 2, mails: ['late'], afterMs: delaySeconds * 1000 }),
  },
  'soak-topic': { steps: [inApp('bell')], owed: owes({ inApp: 1 }) },
  'soak-topic-mail': { steps: [email('mail')], owed: owes({ mails: ['mail'] }) },
  'soak-cancel': { steps: [wait('delay', cancelSeconds), inApp('bell')], owed: owes({}) },
  // What a digest owes is judged by its list of events.
  'soak-digest': {
    steps: [
      wait('digest', digestSeconds),
      { name: 'digest', template: { type: 'in_app', content: `${digestMark} ${digestList}` } },
      {
        name: 'digest',
        template: {
          type: 'email',
          subject: digestMark,
          contentType: 'customHtml',
          layoutId: null,
          content: `<p>${digestList}</p><p>[end]</p>`,
        },
      },
    ],
    owed: owes({ afterMs: digestSeconds * 1000 }),
  },
}

export function workflowOf(name: string): SoakWorkflow {
  const found = workflows[name]
  if (found === undefined) throw new Error(`There is no workflow ${name}`)
  return found
}

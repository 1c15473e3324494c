// The e-mail step: a message to the subscriber's address, with what the trigger overrides.
import { detail } from '../domain/execution-detail.ts'
import type { Envelope } from '../domain/message.ts'
import type { EmailContent } from '../domain/rendering.ts'
import { RenderError } from '../domain/rendering.ts'
import type { EmailBlock, NotificationStep, StepTemplate } from '../domain/workflow.ts'
import { orContentFailed } from './content-failed.ts'
import type { EmailOverrides } from './email-overrides.ts'
import { emailOverridesOf } from './email-overrides.ts'
import type { Step, StepInput, StepMistake } from './step.ts'

const noAddress = { errorId: 'mail_unexpected_error', errorText: 'Subscriber does not have an email address' }

export const email: Step = {
  type: 'email',

  mistakes({ template }) {
    const mistakes = contentMistakes(template)
    if ((template.subject ?? '').trim() === '') {
      mistakes.unshift({ path: 'template.subject', message: 'is missing: an e-mail needs a subject' })
    }
    return mistakes
  },

  decide: (input) =>
    orContentFailed(input.now, () => {
      const { now, event, subscriber } = input
      const overrides = emailOverridesOf(event.overrides)
      const content = render(input, overrides)
      const recipient = overrides.toRecipient ?? (subscriber.email === null ? '' : subscriber.email)
      const shown = { target: '', channel: 'email', content: content.content, subject: content.subject } as const
      if (recipient === '') {
        const details = [detail(now, 'messageCreated'), detail(now, 'noEmail')]
        return { kind: 'unreachable', message: shown, error: noAddress, details }
      }
      const message = { ...shown, email: recipient, envelope: envelopeOf(input, overrides, recipient, content) }
      return { kind: 'send', messages: [message], details: [detail(now, 'messageCreated')] }
    }),
}

function contentMistakes({ content, contentType }: StepTemplate): StepMistake[] {
  const path = 'template.content'
  if (content === undefined || content.length === 0 || (typeof content === 'string' && content.trim() === '')) {
    return [{ path, message: 'is missing: an e-mail needs blocks or HTML' }]
  }
  if (typeof content === 'string') {
    return contentType === 'editor' ? [{ path, message: 'must be a list of blocks where contentType is editor' }] : []
  }
  if (contentType === 'customHtml') return [{ path, message: 'must be a text where contentType is customHtml' }]
  return content.flatMap((block, index) => blockMistakes(block, `${path}[${index}]`))
}

const alignments = ['center', 'left', 'right']

function blockMistakes(block: EmailBlock, path: string): StepMistake[] {
  const mistakes: StepMistake[] = []
  if (block.type !== 'text' && block.type !== 'button') {
    mistakes.push({ path: `${path}.type`, message: 'must be text or button' })
  }
  if (typeof block.content !== 'string') mistakes.push({ path: `${path}.content`, message: 'must be a text' })
  if (block.url !== undefined && typeof block.url !== 'string') {
    mistakes.push({ path: `${path}.url`, message: 'must be a text' })
  }
  const align = block.styles?.textAlign
  if (align !== undefined && !alignments.includes(align)) {
    mistakes.push({ path: `${path}.styles.textAlign`, message: `must be one of ${alignments.join(', ')}` })
  }
  return mistakes
}

/** Where what the trigger says is put for templates that only repeat it. Nobody's payload has such a member. */
const overrideRoot = '__override'

/**
 * Subject, sender's name and HTML that a trigger gives stand as they are: they are no templates. A template that repeats
 * them keeps them under the renderer's rules: one line, CSS inlined, a text part beside the HTML.
 */
function render({ event, step, scope, renderer, templateKey }: StepInput, overrides: EmailOverrides): EmailContent {
  const { subject, senderName, html } = overrides
  const hasLayout = !saysNoLayout(event.overrides, step)
  if (subject === undefined && senderName === undefined && html === undefined && hasLayout) {
    return renderer.email(templateKey, step.template, scope)
  }
  const changes: Partial<StepTemplate> = {
    ...(hasLayout ? {} : { layoutId: null }),
    ...(subject === undefined ? {} : { subject: `{{ ${overrideRoot}.subject }}` }),
    ...(senderName === undefined ? {} : { senderName: `{{ ${overrideRoot}.senderName }}` }),
    ...(html === undefined
      ? {}
      : { contentType: 'customHtml', content: `{{ ${overrideRoot}.html | raw }}`, layoutId: null }),
  }
  const key = `${templateKey}/${Object.keys(changes).join('+')}`
  const values = { [overrideRoot]: { subject, senderName, html } }
  try {
    return renderer.email(key, { ...step.template, ...changes }, { ...scope, ...values })
  } catch (error) {
    if (html === undefined || !(error instanceof RenderError) || error.field !== 'template.content') throw error
    throw new RenderError('overrides.email.html', error.message)
  }
}

/** The step's own word counts before the channel's. There is one layout, so only leaving it out makes a difference. */
function saysNoLayout(overrides: Readonly<Record<string, unknown>>, step: NotificationStep): boolean {
  const places = [
    ['steps', step._id, 'layoutId'],
    ['steps', step.uuid, 'layoutId'],
    ['channels', 'email', 'layoutId'],
    ['layoutIdentifier'],
  ]
  for (const place of places) {
    const value = valueAt(overrides, place)
    if (value !== undefined) return value === null
  }
  return false
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let found = value
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Readonly<Record<string, unknown>>)[name]
  }
  return found
}

function envelopeOf(
  { event, subscriber, version }: StepInput,
  overrides: EmailOverrides,
  recipient: string,
  content: EmailContent,
): Envelope {
  const to = unique([recipient, ...overrides.to])
  const cc = unique(overrides.cc, to)
  const { from, replyTo, ipPoolName, customData } = overrides
  return {
    ...(from === undefined ? {} : { from }),
    ...(content.senderName === undefined ? {} : { senderName: content.senderName }),
    to,
    cc,
    bcc: unique(overrides.bcc, [...to, ...cc]),
    ...(replyTo === undefined ? {} : { replyTo }),
    subject: content.subject,
    html: content.html,
    text: overrides.text ?? content.text,
    headers: overrides.headers,
    attachments: [],
    ...(ipPoolName === undefined ? {} : { ipPoolName }),
    tags: version.definition.tags,
    metadata: {
      transactionId: event.transactionId,
      workflow: version.identifier,
      subscriberId: subscriber.subscriberId,
    },
    ...(customData === undefined ? {} : { customData }),
  }
}

/** Each address once, whatever its capitals, and none that gets the mail already. */
function unique(addresses: readonly string[], others: readonly string[] = []): string[] {
  const seen = new Set(others.map((address) => address.toLowerCase()))
  return addresses.filter((address) => !seen.has(address.toLowerCase()) && seen.add(address.toLowerCase()))
}

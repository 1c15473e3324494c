// The e-mail step: a message to the subscriber's address, with what the trigger overrides.
import { detail } from '../domain/insight/execution-detail.ts'
import type { Envelope } from '../domain/messages/message.ts'
import type { EmailMessage } from '../domain/messages/outbound-message.ts'
import type { EmailContent, EmailFrame } from '../domain/workflows/rendering.ts'
import { RenderError } from '../domain/workflows/rendering.ts'
import type { EmailBlock, StepTemplate } from '../domain/workflows/workflow.ts'
import { withProviderOverrides } from './channel-overrides.ts'
import { orContentFailed } from './content-failed.ts'
import { chooseFrame } from './email-layout.ts'
import type { EmailOverrides } from './email-overrides.ts'
import { emailMembers, emailOverridesOf } from './email-overrides.ts'
import { senderMistakes, templateSender } from './email-sender.ts'
import { overrideFields } from './override-fields.ts'
import type { Step, StepInput, StepMistake } from './step.ts'

const noAddress = { errorId: 'mail_unexpected_error', errorText: 'Subscriber does not have an email address' }

export const email: Step = {
  type: 'email',

  mistakes({ template }) {
    const mistakes = [...contentMistakes(template), ...senderMistakes(template)]
    if ((template.subject ?? '').trim() === '') {
      mistakes.unshift({ path: 'template.subject', message: 'is missing: an e-mail needs a subject' })
    }
    return mistakes
  },

  decide: (input) =>
    orContentFailed(input.now, () => {
      const { now, event } = input
      const overrides = emailOverridesOf(overrideFields(event.overrides, 'email'))
      const chosen = chooseFrame(input.step, event.overrides, input.layouts, now)
      const content = render(input, overrides, chosen.frame)
      const recipient = recipientOf(input, overrides)
      const { content: shown, subject } = content
      const details = [...chosen.details, detail(now, 'messageCreated')]
      if (recipient === '') {
        const message = { target: '', channel: 'email', content: shown, subject } as const
        return { kind: 'unreachable', message, error: noAddress, details: [...details, detail(now, 'noEmail')] }
      }
      const envelope = withProviderOverrides(input, envelopeOf(input, overrides, recipient, content), {
        channel: 'email',
        members: emailMembers,
        remade: (bucket) => {
          const own = emailOverridesOf(bucket)
          return envelopeOf(input, own, own.toRecipient ?? recipient, render(input, own, chosen.frame))
        },
      })
      // Not a spread of what is above: that costs ten times as much, for every e-mail.
      const message = { target: '', channel: 'email', content: shown, subject, email: recipient, envelope } as const
      return { kind: 'send', messages: [message], details }
    }),
}

const recipientOf = ({ subscriber }: StepInput, { toRecipient }: EmailOverrides): string =>
  toRecipient ?? subscriber.email ?? ''

function contentMistakes({ content, contentType }: StepTemplate): StepMistake[] {
  const path = 'template.content'
  if (content === undefined || content.length === 0 || (typeof content === 'string' && content.trim() === '')) {
    return [{ path, message: 'is missing: an e-mail needs blocks or HTML' }]
  }
  if (typeof content === 'string') {
    return contentType === 'editor' ? [{ path, message: 'must be a list of blocks if contentType is editor' }] : []
  }
  if (contentType === 'customHtml') return [{ path, message: 'must be a string if contentType is customHtml' }]
  return content.flatMap((block, index) => blockMistakes(block, `${path}[${index}]`))
}

const alignments = ['center', 'left', 'right']

function blockMistakes(block: EmailBlock, path: string): StepMistake[] {
  const mistakes: StepMistake[] = []
  if (block.type !== 'text' && block.type !== 'button') {
    mistakes.push({ path: `${path}.type`, message: 'must be text or button' })
  }
  if (typeof block.content !== 'string') mistakes.push({ path: `${path}.content`, message: 'must be a string' })
  if (block.url !== undefined && typeof block.url !== 'string') {
    mistakes.push({ path: `${path}.url`, message: 'must be a string' })
  }
  const align = block.styles?.textAlign
  if (align !== undefined && !alignments.includes(align)) {
    mistakes.push({ path: `${path}.styles.textAlign`, message: `must be one of ${alignments.join(', ')}` })
  }
  return mistakes
}

/** Where the trigger's content is put for templates that only repeat it. No payload has such a field. */
const overrideRoot = '__override'

/**
 * Subject, sender name and HTML from a trigger are used as is: they are not templates. A template that repeats them
 * keeps them under the renderer's rules: one line, CSS inlined, a text part next to the HTML.
 */
function render(
  { step, scope, renderer, templateKey }: StepInput,
  overrides: EmailOverrides,
  frame: EmailFrame,
): EmailContent {
  const { subject, senderName, html } = overrides
  if (subject === undefined && senderName === undefined && html === undefined) {
    return renderer.email(templateKey, step.template, scope, frame)
  }
  const changes: Partial<StepTemplate> = {
    ...(subject === undefined ? {} : { subject: `{{ ${overrideRoot}.subject }}` }),
    ...(senderName === undefined ? {} : { senderName: `{{ ${overrideRoot}.senderName }}` }),
    ...(html === undefined ? {} : { contentType: 'customHtml', content: `{{ ${overrideRoot}.html | raw }}` }),
  }
  const key = `${templateKey}/${Object.keys(changes).join('+')}`
  const values = { [overrideRoot]: { subject, senderName, html } }
  try {
    const template = { ...step.template, ...changes }
    return renderer.email(key, template, { ...scope, ...values }, html === undefined ? frame : 'none')
  } catch (error) {
    if (html === undefined || !(error instanceof RenderError) || error.field !== 'template.content') throw error
    throw new RenderError('overrides.email.html', error.message)
  }
}

function envelopeOf(input: StepInput, overrides: EmailOverrides, recipient: string, content: EmailContent): Envelope {
  const { event, subscriber, version } = input
  const own = templateSender(input)
  const to = unique([recipient, ...overrides.to])
  const cc = unique(overrides.cc, to)
  const { ipPoolName, customData } = overrides
  const from = overrides.from ?? own.from
  const senderName = content.senderName ?? own.senderName
  const replyTo = overrides.replyTo ?? own.replyTo
  const metadata = {
    transactionId: event.transactionId,
    workflow: version.identifier,
    subscriberId: subscriber.subscriberId,
  }
  // Field by field, as there is one for every e-mail: a spread costs ten times as much.
  const envelope: { -readonly [Name in keyof EmailEnvelope]: EmailEnvelope[Name] } = {
    to,
    cc,
    bcc: unique(overrides.bcc, [...to, ...cc]),
    subject: content.subject,
    html: content.html,
    text: overrides.text ?? content.text,
    headers: overrides.headers,
    attachments: [],
    tags: version.definition.tags,
    metadata,
  }
  if (from !== undefined) envelope.from = from
  if (senderName !== undefined) envelope.senderName = senderName
  if (replyTo !== undefined) envelope.replyTo = replyTo
  if (ipPoolName !== undefined) envelope.ipPoolName = ipPoolName
  if (customData !== undefined) envelope.customData = customData
  return envelope
}

type EmailEnvelope = Omit<EmailMessage, 'id'>

/** Each address once, regardless of case, and none that already gets the e-mail. */
function unique(addresses: readonly string[], others: readonly string[] = []): string[] {
  if (addresses.length === 0) return []
  const seen = new Set(others.map((address) => address.toLowerCase()))
  return addresses.filter((address) => !seen.has(address.toLowerCase()) && seen.add(address.toLowerCase()))
}

// What every floor needs to know about rendering: the variables of a template, the result, and why it may fail.
import { secretVariables } from './environment-variable.ts'
import type { Translations } from './translation.ts'
import { textsOwner, translations } from './translation.ts'
import type { EmailBlock, MessageCta, StepTemplate, TemplateActor } from './workflow.ts'

/**
 * The variables of a template, including payload fields at the top level; the named ones take precedence over those.
 */
export interface TemplateScope {
  readonly [name: string]: unknown
  /** The texts of the filter `t`, where a template uses it: under a name that no template can write. */
  readonly [translations]?: Translations
  /** Variables of the environment that only the headers of custom steps print. */
  readonly [secretVariables]?: Readonly<Record<string, string>>
  /** Whose own texts come first, if not the workflow's. */
  readonly [textsOwner]?: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly subscriber: Readonly<Record<string, unknown>>
  readonly actor: Readonly<Record<string, unknown>> | undefined
  readonly tenant: Readonly<Record<string, unknown>> | undefined
  /** By type. */
  readonly context: Readonly<Record<string, { readonly id: string; readonly data: Readonly<Record<string, unknown>> }>>
  readonly step: {
    /** Whether the step comes after a digest. */
    readonly digest: boolean
    /** The payloads of the digest's events, oldest first; of this event alone without a digest. */
    readonly events: readonly Readonly<Record<string, unknown>>[]
    readonly total_count: number
  }
  readonly workflow: {
    readonly identifier: string
    readonly name: string
    readonly tags: readonly string[]
    readonly data: Readonly<Record<string, unknown>>
  }
}

export interface EmailContent {
  readonly subject: string
  readonly senderName?: string
  /** The whole document, layout around it, CSS inlined. */
  readonly html: string
  readonly text: string
  /** What the message shows as its content: the rendered blocks, or the body as rendered, without layout. */
  readonly content: string | readonly EmailBlock[]
}

/** A layout of the environment's own. */
export interface EmailLayout {
  readonly _id: string
  readonly identifier: string
  /** Identifies the content permanently: the compiled template is cached under it. */
  readonly key: string
  readonly content: string
}

/** The layouts that e-mails of an environment can be put into. */
export interface EmailLayouts {
  /** By id or by identifier. */
  find(name: string): EmailLayout | undefined
  /** The default one of the environment; undefined where that is the built-in one. */
  readonly standard: EmailLayout | undefined
}

/** What an e-mail is put into. */
export type EmailFrame = EmailLayout | 'builtIn' | 'none'

export interface InAppContent {
  /** Sanitised. */
  readonly content: string
  readonly subject?: string
  readonly cta: MessageCta
  /** Where the picture's address is a template. */
  readonly actor?: TemplateActor
  readonly data?: Readonly<Record<string, unknown>>
}

/** SMS, chat and push. */
export interface TextContent {
  /** Nothing in it is escaped: it is shown as it is. */
  readonly content: string
  /** Push. */
  readonly title?: string
}

/** Why a template failed: its field, and a message for its author. */
export class RenderError extends Error {
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.name = 'RenderError'
    this.field = field
  }
}

/** One rendering, as it is given to a thread. */
export type RenderRequest =
  | {
      readonly kind: 'email'
      readonly template: StepTemplate
      readonly scope: TemplateScope
      readonly frame: EmailFrame | undefined
    }
  | { readonly kind: 'inApp' | 'text'; readonly template: StepTemplate; readonly scope: TemplateScope }
  | { readonly kind: 'value' | 'conditionValue'; readonly text: string; readonly scope: TemplateScope }
  | { readonly kind: 'fields'; readonly fields: readonly FieldText[]; readonly scope: TemplateScope }

/** A text that is a template, with the name by which its author knows it. */
export interface FieldText {
  readonly path: string
  readonly text: string
}

/**
 * Thrown by a renderer that leaves a rendering to a thread: nothing is wrong with it. Whoever decides with such a renderer waits
 * for the thread and decides again.
 */
export class RenderElsewhere extends Error {
  readonly request: RenderRequest

  constructor(request: RenderRequest) {
    super('This is rendered in a thread')
    this.name = 'RenderElsewhere'
    this.request = request
  }
}

/** Renders steps. `key` names the template for good (version, step and variant): what was compiled is kept under it. */
export interface Renderer {
  /** Without a frame: the built-in one, unless the template wants none. */
  email(key: string, template: StepTemplate, scope: TemplateScope, frame?: EmailFrame): EmailContent
  inApp(key: string, template: StepTemplate, scope: TemplateScope): InAppContent
  text(key: string, template: StepTemplate, scope: TemplateScope): TextContent
  /** A single value, such as the sender of an e-mail. Not cached: values are short. */
  value(text: string, scope: TemplateScope): string
  /** Several texts of one message, in their order: they share one budget. */
  fields(key: string, fields: readonly FieldText[], scope: TemplateScope): readonly string[]
  /** The values of conditions: all that are rendered with the scope of a job share one small budget. */
  values(scope: TemplateScope): (text: string) => string
  /** The same with a small budget: what exceeds it is left to a thread. */
  readonly small?: Renderer
}

// E-mails from templates: blocks of the editor or HTML, the layout around it, CSS inlined, and the text part beside it.
import type { EmailContent, TemplateScope } from '../../domain/workflows/rendering.ts'
import { RenderError } from '../../domain/workflows/rendering.ts'
import type { EmailBlock, StepTemplate } from '../../domain/workflows/workflow.ts'
import type { Mode } from '../engine.ts'
import type { Budget } from '../limits.ts'
import { blocksMax, preheaderLengthMax, sanitizedTagsMax, senderNameLengthMax, subjectLengthMax } from '../limits.ts'
import { countOf } from '../markup.ts'
import { oneLine, safeAddress } from '../plain-text.ts'
import { sanitized } from '../sanitize.ts'
import type { Template } from '../template.ts'
import { compile } from '../template.ts'
import { htmlToText } from '../text/html-to-text.ts'
import { contentMode } from '../texts.ts'
import { localeOf } from '../timestamps.ts'
import type { CompiledDocument } from './document.ts'
import { compileDocument, isWholeDocument } from './document.ts'
import { hasStyle, inlineTemplateCss } from './inline-css.ts'
import { buttonBlock, defaultLayout, hiddenPreheader, textBlock } from './layout.ts'
import type { CompiledLayout } from './own-layout.ts'
import { renderLayout } from './own-layout.ts'

interface CompiledBlock {
  readonly block: EmailBlock
  readonly content: Template
  readonly url: Template | undefined
  readonly field: string
}

type CompiledBody =
  | { readonly kind: 'blocks'; readonly blocks: readonly CompiledBlock[] }
  | { readonly kind: 'html'; readonly document: CompiledDocument }

export interface CompiledEmail {
  readonly sourceLength: number
  readonly subject: Template
  readonly preheader: Template | undefined
  readonly senderName: Template | undefined
  readonly body: CompiledBody
  readonly hasLayout: boolean
}

export function compileEmail(template: StepTemplate): CompiledEmail {
  const plain = (field: 'subject' | 'preheader' | 'senderName', text: string | undefined): Template | undefined =>
    text === undefined || text === '' ? undefined : compile(`template.${field}`, text, 'plain')
  const subject = compile('template.subject', template.subject ?? '', 'plain')
  const preheader = plain('preheader', template.preheader)
  const senderName = plain('senderName', template.senderName)
  const body = compileBody(template.content ?? '', contentMode(template))
  const texts = [subject, preheader, senderName, ...textsOf(body)]
  return {
    sourceLength: texts.reduce((sum, text) => sum + (text?.sourceLength ?? 0), 0),
    subject,
    preheader,
    senderName,
    body,
    hasLayout: template.layoutId !== null && template.layoutId !== 'none',
  }
}

function textsOf(body: CompiledBody): ({ readonly sourceLength: number } | undefined)[] {
  return body.kind === 'html' ? [body.document] : body.blocks.flatMap(({ content, url }) => [content, url])
}

function compileBody(content: string | readonly EmailBlock[], mode: Mode): CompiledBody {
  if (typeof content === 'string') {
    const field = 'template.content'
    const document = compileDocument(field, content, mode, false)
    const once = hasStyle(content) ? inlineTemplateCss(content) : undefined
    return { kind: 'html', document: once === undefined ? document : compileDocument(field, once, mode, true) }
  }
  if (content.length > blocksMax) {
    throw new RenderError('template.content', `has ${content.length} blocks; at most ${blocksMax} are allowed`)
  }
  const blocks = content.map((block, index): CompiledBlock => {
    const field = `template.content[${index}]`
    return {
      block,
      field,
      content: compile(`${field}.content`, block.content, block.type === 'button' ? 'plain' : 'html'),
      url: block.url === undefined ? undefined : compile(`${field}.url`, block.url, 'plain'),
    }
  })
  return { kind: 'blocks', blocks }
}

interface Body {
  /** What the message shows as its content. */
  readonly content: string | readonly EmailBlock[]
  readonly html: string
  readonly text: string
  /** Whether it is a whole document. */
  readonly isWhole: boolean
}

/** What an e-mail is put into, compiled. */
export type CompiledFrame = CompiledLayout | 'builtIn' | 'none'

export function renderEmail(
  compiled: CompiledEmail,
  scope: TemplateScope,
  budget: Budget,
  frame: CompiledFrame = compiled.hasLayout ? 'builtIn' : 'none',
): EmailContent {
  const subject = oneLine(compiled.subject.render(scope, budget), subjectLengthMax)
  const preheader = oneLine(compiled.preheader?.render(scope, budget) ?? '', preheaderLengthMax)
  const senderName = oneLine(compiled.senderName?.render(scope, budget) ?? '', senderNameLengthMax)
  const body =
    compiled.body.kind === 'html'
      ? compiled.body.document.render(scope, budget)
      : blocksBody(compiled.body.blocks, scope, budget)
  const whole = framed(frame, { subject, preheader, body: body.html, isWhole: body.isWhole }, scope, budget)
  return {
    subject,
    ...(senderName === '' ? {} : { senderName }),
    html: whole,
    text: body.text,
    content: body.content,
  }
}

/** A body that is a whole document already is left as it is: a document within a document is not valid. */
function framed(
  frame: CompiledFrame,
  mail: { subject: string; preheader: string; body: string; isWhole: boolean },
  scope: TemplateScope,
  budget: Budget,
): string {
  if (frame === 'none' || mail.isWhole) return withPreheader(mail.body, mail.preheader)
  // A mail whose texts are those of another language says so, to screen readers and to those who translate.
  const locale = localeOf(budget.fallbackLocale ?? scope.subscriber['locale'])
  if (frame === 'builtIn') return defaultLayout({ locale, ...mail })
  const whole = renderLayout(frame, { ...mail, locale }, scope, budget)
  return frame.hasPreheader ? whole : withPreheader(whole, mail.preheader)
}

function blocksBody(blocks: readonly CompiledBlock[], scope: TemplateScope, budget: Budget): Body {
  const shown: EmailBlock[] = []
  const html: string[] = []
  const text: string[] = []
  let tags = 0
  for (const { block, content, url, field } of blocks) {
    const rendered = content.render(scope, budget)
    tags += countOf(rendered, '<', sanitizedTagsMax)
    if (tags > sanitizedTagsMax) throw new RenderError(field, `the blocks have more than ${sanitizedTagsMax} tags`)
    const align = block.styles?.textAlign
    if (block.type === 'button') {
      const label = oneLine(rendered, subjectLengthMax)
      const address = url === undefined ? undefined : safeAddress(`${field}.url`, url.render(scope, budget))
      shown.push({ ...block, content: label, ...(url === undefined ? {} : { url: address ?? '' }) })
      html.push(buttonBlock(label, address, align))
      text.push(address === undefined ? label : `${label} (${address})`)
    } else {
      const safe = sanitized(`${field}.content`, rendered, 'email')
      shown.push({ ...block, content: safe })
      html.push(textBlock(withLineBreaks(safe), align))
      text.push(textOf(safe))
    }
  }
  const whole = html.join('\n')
  return {
    content: shown,
    html: whole,
    text: text.filter((part) => part !== '').join('\n\n'),
    isWhole: isWholeDocument(whole),
  }
}

/** Without tags, line breaks are meant as they are. */
const withLineBreaks = (html: string): string => (html.includes('<') ? html : html.replace(/\r?\n/g, '<br>\n'))

/** Most blocks hold neither a tag nor an escape. */
const textOf = (html: string): string => (/[<&]/.test(html) ? htmlToText(withLineBreaks(html)) : html.trim())

function withPreheader(html: string, preheader: string): string {
  if (preheader === '') return html
  const hidden = hiddenPreheader(preheader)
  const bodyAt = html.search(/<body[\s>]/i)
  const at = bodyAt === -1 ? 0 : html.indexOf('>', bodyAt) + 1
  if (at === 0) return isWholeDocument(html) ? html : `${hidden}${html}`
  return `${html.slice(0, at)}${hidden}${html.slice(at)}`
}

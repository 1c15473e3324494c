// The frame of the pages that we serve to recipients: plain HTML that needs no script, and a policy that allows none.
import { createHash } from 'node:crypto'

/** Text that is safe in HTML. Only `html` and `join` make it. */
export interface Html {
  readonly html: string
}

export type Part = Html | string | undefined

/** Every value but HTML of our own is text, and is escaped as such. */
export function html(strings: TemplateStringsArray, ...parts: readonly (Part | readonly Html[])[]): Html {
  const written = parts.map((part, index) => `${writtenOf(part)}${strings[index + 1] ?? ''}`)
  return { html: `${strings[0] ?? ''}${written.join('')}` }
}

function writtenOf(part: Part | readonly Html[]): string {
  if (part === undefined) return ''
  if (typeof part === 'string') return escaped(part)
  return 'html' in part ? part.html : part.map((one) => one.html).join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')

/** Contrast is 7:1 or better in both schemes; what can be pressed is at least 44 pixels high. */
const style = `
:root { color-scheme: light dark; --text: #1b1f24; --quiet: #464e58; --ground: #ffffff; --line: #6b7480; --mark: #0a4b91; --on-mark: #ffffff; --notice: #e4f2e7 }
@media (prefers-color-scheme: dark) { :root { --text: #eceff2; --quiet: #c0c8d0; --ground: #15181c; --line: #8b95a1; --mark: #9cc9ff; --on-mark: #0b1622; --notice: #1d3325 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--text); font: 1.0625rem/1.5 system-ui, sans-serif }
main { max-width: 34rem; margin: 0 auto; padding: 2rem 1rem 3rem; overflow-wrap: anywhere }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 1rem }
fieldset { border: 1px solid var(--line); border-radius: .5rem; margin: 0 0 1.25rem; padding: .5rem 1rem 1rem }
legend { font-weight: 600; padding: 0 .4rem }
label { display: flex; align-items: center; gap: .75rem; min-height: 2.75rem; cursor: pointer }
input[type=checkbox] { width: 1.35rem; height: 1.35rem; flex: none; margin: 0; accent-color: var(--mark) }
button { min-height: 2.75rem; padding: .5rem 1.25rem; border: 2px solid var(--mark); border-radius: .5rem; background: var(--mark); color: var(--on-mark); font: inherit; font-weight: 600; cursor: pointer }
:focus-visible { outline: 3px solid var(--mark); outline-offset: 3px }
.quiet { color: var(--quiet); margin: .25rem 0 .5rem }
.notice { background: var(--notice); border-left: .3rem solid var(--mark); padding: .75rem 1rem; margin: 0 0 1.5rem }
.first { margin: 0 0 2rem }
`
const styleHash = createHash('sha256').update(style).digest('base64')

export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'x-robots-tag': 'noindex, nofollow',
}

/** `title` states first what happened: it is what a screen reader says when the page opens. */
export function page(title: string, body: Html): string {
  const { html: text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${title}</title>
<style>${{ html: style }}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`
  return text
}

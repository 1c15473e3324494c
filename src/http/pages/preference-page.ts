// The page on which a recipient chooses what they receive, and on which channels; and the pages for invalid links.
import type { Channel } from '../../domain/delivery/integration.ts'
import { channels } from '../../domain/delivery/integration.ts'
import type { Box, Ticks } from '../../domain/preferences/preference-boxes.ts'
import type { Choices } from '../../manage/people/unsubscribe.ts'
import type { Html } from './page.ts'
import { html, page } from './page.ts'

const channelNames: Readonly<Record<Channel, string>> = {
  email: 'E-mail',
  in_app: 'In the app',
  sms: 'SMS',
  chat: 'Chat',
  push: 'Push',
}

/** `unsubscribed` and `saved` say what was just done; `inboxLink` leads to the inbox, if there is one to show. */
export function preferencePage(choices: Choices, done?: 'unsubscribed' | 'saved', inboxLink?: string): string {
  const { workflow, boxes } = choices
  const heading = 'Notification preferences'
  const notice = done === undefined ? undefined : noticeOf(done, workflow?.name)
  const title = notice === undefined ? heading : `${notice} – ${heading}`
  return page(
    title,
    html`<h1>${heading}</h1>
${notice === undefined ? undefined : html`<p class="notice" role="status">${notice}</p>`}
${oneClick(choices)}
<form method="post">
<input type="hidden" name="save" value="choices">
${workflow === undefined || boxes.workflow.length === 0 ? undefined : group('workflow', workflow.name, boxes.workflow)}
${workflow?.critical === true ? html`<p>“${workflow.name}” is required information, so it cannot be switched off.</p>` : undefined}
${group('everywhere', 'All notifications', boxes.everywhere, 'Channels switched off here are off for everything except messages you need, such as a password reset.')}
<button type="submit">Save</button>
</form>
${inboxLink === undefined ? undefined : html`<p><a href="${inboxLink}">Open the demo inbox</a></p>`}`,
  )
}

function noticeOf(done: 'unsubscribed' | 'saved', name: string | undefined): string {
  if (done === 'saved') return 'Your choices are saved.'
  return name === undefined
    ? 'You will not receive any more of these e-mails.'
    : `You will not receive any more e-mails about “${name}”.`
}

/** What most people came for, without a box to find first. The field is RFC 8058's own. */
function oneClick({ workflow, boxes }: Choices): Html | undefined {
  const gets = boxes.workflow.some((box) => box.channel === 'email' && box.ticked)
  if (workflow === undefined || !gets) return undefined
  return html`<form method="post" class="first">
<button type="submit" name="List-Unsubscribe" value="One-Click">Stop e-mail about “${workflow.name}”</button>
</form>`
}

function group(name: keyof Ticks, legend: string, boxes: readonly Box[], hint?: string): Html {
  const id = `${name}-hint`
  const described = hint === undefined ? undefined : html` aria-describedby="${id}"`
  return html`<fieldset${described}>
<legend>${legend}</legend>
${hint === undefined ? undefined : html`<p class="quiet" id="${id}">${hint}</p>`}
${boxes.map((box) => field(name, box))}
</fieldset>`
}

/** An empty box is not sent; the hidden field says that it was there. */
function field(name: string, { channel, ticked }: Box): Html {
  const checked = ticked ? html` checked` : undefined
  return html`<input type="hidden" name="shown-${name}" value="${channel}">
<label><input type="checkbox" name="${name}" value="${channel}"${checked}> ${channelNames[channel]}</label>
`
}

/** What the form sent; undefined when it was another form. */
export function ticksOf(form: URLSearchParams): Ticks | undefined {
  if (form.get('save') !== 'choices') return undefined
  const read = (name: keyof Ticks): Box[] => {
    const shown = new Set(form.getAll(`shown-${name}`))
    const ticked = new Set(form.getAll(name))
    return channels.flatMap((channel) => (shown.has(channel) ? [{ channel, ticked: ticked.has(channel) }] : []))
  }
  return { workflow: read('workflow'), everywhere: read('everywhere') }
}

/** The same for a link that was altered, and for one whose owner is gone: it reveals nothing about anyone. */
export const deadLinkPage = page(
  'This link does not work',
  html`<h1>This link does not work</h1>
<p>It may have been cut off on its way. Please open it from the e-mail again, or copy the whole of it.</p>`,
)

export const unreadFormPage = page(
  'Nothing was changed',
  html`<h1>Nothing was changed</h1>
<p>We could not read what was sent. Please open the link from the e-mail again.</p>`,
)

export const tooManyPage = page(
  'Please wait a minute',
  html`<h1>Please wait a minute</h1>
<p>This page was asked for too often. Your choices are as you left them.</p>`,
)

export const faultPage = page(
  'Something went wrong',
  html`<h1>Something went wrong</h1>
<p>The fault is ours. Please try again in a minute.</p>`,
)

// One notification in the list: its text, its actions, and what can be done with it.
import type { Action, InboxNotification, Mark, Redirect } from '../client/index.ts'
import type { Icon } from './dom.ts'
import { h, icon, iconButton, marked } from './dom.ts'
import type { Texts } from './texts.ts'
import { relativeTime } from './texts.ts'

export interface ItemContext {
  readonly texts: Texts
  readonly locale: string
  readonly nowMs: number
  readonly maxSnoozeHours: number
  onOpen(notification: InboxNotification): void
  onMark(notification: InboxNotification, mark: Mark): void
  onSnooze(notification: InboxNotification, hours: number): void
  onAction(notification: InboxNotification, which: 'primary' | 'secondary'): void
  onRemove(notification: InboxNotification): void
}

export function itemElement(notification: InboxNotification, context: ItemContext): HTMLElement {
  const { subject, body, avatar, isRead, severity } = notification
  const shownAt = notification.snoozedUntil ?? notification.createdAt
  const unread = isRead ? undefined : h('span', { class: `dot ${severity}`, 'aria-hidden': 'true' })
  const main = h(
    'button',
    { type: 'button', class: 'main', part: 'item', click: () => context.onOpen(notification) },
    isRead ? undefined : h('span', { class: 'sr' }, `${context.texts.unread}: `),
    isHttp(avatar) ? h('img', { src: avatar, alt: '', loading: 'lazy', referrerpolicy: 'no-referrer' }) : undefined,
    subject ? h('span', { class: 'text subject' }, ...marked(subject)) : undefined,
    h('span', { class: 'text' }, ...marked(body)),
    h('time', { datetime: shownAt }, relativeTime(context.locale, shownAt, context.nowMs)),
  )
  const item = h('li', { class: isRead ? 'read' : 'unread', 'data-id': notification.id })
  item.append(...[unread, main, actionsOf(notification, context), toolsOf(notification, context)].filter(isThere))
  return item
}

const isThere = <Value>(value: Value | undefined): value is Value => value !== undefined
const isHttp = (url: string | undefined): url is string => url !== undefined && /^https?:\/\//i.test(url)

function actionsOf(notification: InboxNotification, context: ItemContext): HTMLElement | undefined {
  const button = (which: 'primary' | 'secondary', action: Action | undefined): HTMLElement | undefined =>
    action &&
    h(
      'button',
      {
        type: 'button',
        class: which,
        disabled: action.isCompleted,
        click: () => context.onAction(notification, which),
      },
      action.label,
    )
  const buttons = [button('primary', notification.primaryAction), button('secondary', notification.secondaryAction)]
  return buttons.some(isThere) ? h('div', { class: 'actions' }, ...buttons) : undefined
}

function toolsOf(notification: InboxNotification, context: ItemContext): HTMLElement {
  const { texts } = context
  const { isRead, isArchived, isSnoozed } = notification
  const tool = (name: Icon, label: string, mark: Mark): HTMLElement =>
    iconButton(name, label, () => context.onMark(notification, mark))
  return h(
    'div',
    { class: 'tools', role: 'group' },
    isRead ? tool('dot', texts.markUnread, 'unread') : tool('check', texts.markRead, 'read'),
    isSnoozed ? tool('inbox', texts.unsnooze, 'unsnooze') : snoozeTool(notification, context),
    isArchived ? tool('inbox', texts.unarchive, 'unarchive') : tool('archive', texts.archive, 'archive'),
    iconButton('bin', texts.remove, () => context.onRemove(notification)),
  )
}

/** A list of the browser's own: it works with every keyboard and screen reader. */
function snoozeTool(notification: InboxNotification, context: ItemContext): HTMLElement | undefined {
  const { texts, maxSnoozeHours } = context
  const offered = (
    [
      ['1', texts.hour],
      ['24', texts.day],
      ['168', texts.week],
    ] as const
  ).filter(([hours]) => Number(hours) <= maxSnoozeHours)
  if (offered.length === 0 || notification.isArchived) return undefined
  const change = (event: Event): void => {
    const hours = Number((event.target as HTMLSelectElement).value)
    if (hours > 0) context.onSnooze(notification, hours)
  }
  const select = h(
    'select',
    { 'aria-label': texts.snooze, change },
    h('option', { value: '0' }, texts.snooze),
    ...offered.map(([value, label]) => h('option', { value }, label)),
  )
  return h('span', { class: 'snooze icon', title: texts.snooze }, icon('clock'), select)
}

/** Only addresses that lead to a page: neither scripts nor files. */
export function follow(redirect: Redirect | undefined): void {
  if (redirect === undefined || !/^(?:https?:\/\/|\/(?!\/))/i.test(redirect.url)) return
  window.open(redirect.url, redirect.target ?? '_self', redirect.target === '_blank' ? 'noopener' : '')
}

// States, as an icon and a word in the colour of their meaning; never a colour alone.
import type { IconName } from './icons.tsx'
import { Icon } from './icons.tsx'

export type Tone = 'green' | 'blue' | 'amber' | 'red' | 'violet' | 'grey'

export const looks: Readonly<Record<Tone, string>> = {
  green: 'bg-green-bg text-green',
  blue: 'bg-blue-bg text-blue',
  amber: 'bg-amber-bg text-amber',
  red: 'bg-red-bg text-red',
  violet: 'bg-violet-bg text-violet',
  grey: 'bg-grey-bg text-grey',
}

export function Badge({ tone, icon, children }: { tone: Tone; icon?: IconName; children: string }) {
  return (
    <span
      className={`inline-flex items-center gap-1 rounded px-1.5 py-0.5 text-xs font-medium whitespace-nowrap ${looks[tone]}`}
    >
      {icon !== undefined && <Icon name={icon} size={12} />}
      {children}
    </span>
  )
}

interface Shown {
  readonly tone: Tone
  readonly icon: IconName
  readonly word: string
}

const states: Readonly<Record<string, Shown>> = {
  completed: { tone: 'green', icon: 'check', word: 'Done' },
  sent: { tone: 'green', icon: 'check', word: 'Sent' },
  delivered: { tone: 'green', icon: 'check', word: 'Delivered' },
  captured: { tone: 'violet', icon: 'outbox', word: 'Captured' },
  queued: { tone: 'blue', icon: 'clock', word: 'Queued' },
  running: { tone: 'blue', icon: 'activity', word: 'Running' },
  pending: { tone: 'grey', icon: 'minus', word: 'Not yet' },
  delayed: { tone: 'amber', icon: 'clock', word: 'Waiting' },
  retrying: { tone: 'amber', icon: 'again', word: 'Retrying' },
  failed: { tone: 'red', icon: 'cross', word: 'Failed' },
  error: { tone: 'red', icon: 'cross', word: 'Failed' },
  skipped: { tone: 'grey', icon: 'minus', word: 'Skipped' },
  retracted: { tone: 'grey', icon: 'out', word: 'Taken back' },
  deleted: { tone: 'grey', icon: 'trash', word: 'Deleted' },
  canceled: { tone: 'grey', icon: 'ban', word: 'Cancelled' },
  merged: { tone: 'grey', icon: 'digest', word: 'Merged' },
  inactive: { tone: 'grey', icon: 'minus', word: 'Off' },
  warning: { tone: 'amber', icon: 'warning', word: 'Warning' },
  unsure: { tone: 'amber', icon: 'warning', word: 'Perhaps sent' },
  bounced: { tone: 'red', icon: 'cross', word: 'Bounced' },
}

export const shownState = (state: string): Shown =>
  states[state] ?? { tone: 'grey', icon: 'info', word: state.charAt(0).toUpperCase() + state.slice(1) }

export function Status({ state }: { state: string }) {
  const { tone, icon, word } = shownState(state)
  return (
    <Badge tone={tone} icon={icon}>
      {word}
    </Badge>
  )
}

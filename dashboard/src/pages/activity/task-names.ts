// What the service does beside steps, in words.
const names: Readonly<Record<string, string>> = {
  expand: 'Finding the recipients of an event',
  cancel: 'Cancelling an event',
  retract: 'Taking back an event',
  redrive: 'Sending failed notifications again',
  unsnooze: 'The end of a snooze',
  erase: 'Erasing a subscriber',
  receipt: 'A receipt of a provider',
  poll: 'Asking a provider for a receipt',
  reply: 'An answer to a message',
  news: 'News for your backend',
  webhook: 'News for your backend',
}

export const taskName = (task: string | undefined): string => names[task ?? ''] ?? 'Background work'

/** What was abandoned. */
export const buriedName = ({ kind, task }: { readonly kind: string; readonly task?: string }): string =>
  kind === 'job' ? 'A step of a notification' : taskName(task)

// A verdict: what is counted, and which counts must be 0.

export interface Verdict {
  events: number
  notifications: number
  notificationsLost: number
  notificationsDoubled: number
  inApp: number
  inAppLost: number
  inAppDoubled: number
  mails: number
  mailsNeverSent: number
  mailsTwiceMarked: number
  mailsTwiceUnmarked: number
  sms: number
  smsLost: number
  smsSkippedMarked: number
  smsTwiceMarked: number
  smsTwiceUnmarked: number
  digestEvents: number
  digestEventsLost: number
  digestEventsDoubled: number
  cancelledYetDelivered: number
  /** Messages whose words and, at a sink, address were compared with what was owed. */
  contentChecked: number
  wrongAddress: number
  wrongWords: number
  /** Messages and notifications for subscribers to whom nothing of the kind was owed. */
  notOwed: number
  /** E-mails after a delay that came before its end. */
  delaysEarly: number
  jobsFailed: number
  buried: number
  unfinished: number
  /** The first few of each kind, for whoever looks for the reason. */
  readonly examples: Record<string, string[]>
}

/** What must be 0. */
export const mustBeZero = [
  'notificationsLost',
  'notificationsDoubled',
  'inAppLost',
  'inAppDoubled',
  'mailsNeverSent',
  'mailsTwiceUnmarked',
  'smsLost',
  'smsTwiceUnmarked',
  'digestEventsLost',
  'digestEventsDoubled',
  'cancelledYetDelivered',
  'wrongAddress',
  'wrongWords',
  'notOwed',
  'delaysEarly',
  'jobsFailed',
  'buried',
  'unfinished',
] as const

const examplesMax = 10

export type Counted = Exclude<keyof Verdict, 'examples'>

export const isClean = (verdict: Verdict): boolean => mustBeZero.every((name) => verdict[name] === 0)

export function note(verdict: Verdict, kind: string, example: string): void {
  verdict.examples[kind] ??= []
  const list = verdict.examples[kind]
  if (list.length < examplesMax) list.push(example)
}

export function add(verdict: Verdict, kind: Counted, example: string): void {
  verdict[kind]++
  note(verdict, kind, example)
}

export function emptyCounts(): Record<Counted, number> {
  return {
    ...{ events: 0, notifications: 0, notificationsLost: 0, notificationsDoubled: 0 },
    ...{ inApp: 0, inAppLost: 0, inAppDoubled: 0 },
    ...{ mails: 0, mailsNeverSent: 0, mailsTwiceMarked: 0, mailsTwiceUnmarked: 0 },
    ...{ sms: 0, smsLost: 0, smsSkippedMarked: 0, smsTwiceMarked: 0, smsTwiceUnmarked: 0 },
    ...{ digestEvents: 0, digestEventsLost: 0, digestEventsDoubled: 0, cancelledYetDelivered: 0, delaysEarly: 0 },
    ...{ contentChecked: 0, wrongAddress: 0, wrongWords: 0, notOwed: 0 },
    ...{ jobsFailed: 0, buried: 0, unfinished: 0 },
  }
}

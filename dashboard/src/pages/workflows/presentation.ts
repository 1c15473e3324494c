// How the settings of steps are shown, where their schema does not say it: words, order, width. A field that is not named
// here is shown with the words of its schema, below the others.

export type Control =
  | 'amount'
  | 'blocks'
  | 'choice'
  | 'conditions'
  | 'feed'
  | 'group'
  | 'json'
  | 'layout'
  | 'list'
  | 'number'
  | 'pairs'
  | 'rows'
  | 'switch'
  | 'template'
  | 'ticks'
  | 'time'
  | 'value'
  | 'variants'
  | 'words'

export interface Presentation {
  readonly label?: string
  /** Empty: none, though the schema has a description. */
  readonly hint?: string
  readonly placeholder?: string
  readonly control?: Control
  /** Words for the values that it may have. */
  readonly words?: Readonly<Record<string, string>>
  /** The values that are offered, where not all make sense. */
  readonly offers?: readonly string[]
  /** What the service takes when it is left out. */
  readonly fallback?: string
  /** Lines of a template. */
  readonly lines?: number
  readonly width?: 'half' | 'third'
  /** Its own members stand beside the others, without a frame. */
  readonly isFlat?: boolean
  /** Shown only while these members have one of these values, or it has one itself. */
  readonly when?: Readonly<Record<string, readonly string[]>>
  /** Set by the control of another member. */
  readonly with?: string
  /** Not settings: the ids of steps, and what the page shows in other places. */
  readonly isElsewhere?: boolean
}

const weekDays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const nameOf = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
const namesOf = (words: readonly string[]) => Object.fromEntries(words.map((word) => [word, nameOf(word)]))

const targets = {
  _self: 'In the same tab',
  _blank: 'In a new tab',
  _parent: 'In the frame around it',
  _top: 'In the whole tab',
  _unfencedTop: 'In the whole tab, out of a fenced frame',
}
const looks = { primary: 'Primary', secondary: 'Secondary' }
const longUnits = ['days', 'weeks', 'months']

/** By `type.kind.member`, `type.member`, `kind.member` or `member`, the first that there is; members of members with dots. */
export const presentations: Readonly<Record<string, Presentation>> = {
  // The step itself.
  _id: { isElsewhere: true },
  _parentId: { isElsewhere: true },
  'template.type': { isElsewhere: true },
  active: { isElsewhere: true },
  name: { label: 'Name of the step', hint: '' },
  uuid: { label: 'Id of the step', hint: 'What conditions of later steps know it by.' },
  shouldStopOnFail: { label: 'Stop the workflow when this step fails', hint: '' },
  skip: { label: 'Skip when, as JsonLogic', hint: '' },
  replyCallback: { label: 'Replies' },
  'replyCallback.active': { label: 'Report replies', hint: '' },
  'replyCallback.url': { label: 'Address that receives them', hint: '' },
  filters: { label: 'Conditions' },
  variants: { label: 'Variants' },

  // What a message says.
  'email.subject': { hint: '' },
  'in_app.subject': { label: 'Heading', hint: 'Optional' },
  title: { hint: '' },
  preheader: { label: 'Preview line', hint: 'What inboxes show beside the subject.' },
  senderName: { label: 'Sender’s name', hint: 'Else that of the integration.', width: 'half' },
  layoutId: { label: 'Layout', hint: '', control: 'layout', width: 'half' },
  contentType: { with: 'content' },
  content: { label: 'Text', lines: 5 },
  'email.content': { label: 'Content' },
  'sms.content': { label: 'Text', lines: 3 },
  from: { label: 'Sender', hint: 'Else that of the integration.' },
  'from.email': { label: 'E-mail address', hint: '', width: 'half' },
  'from.name': { label: 'Name', hint: '', width: 'half' },
  replyTo: { label: 'Replies go to', hint: '' },
  disableOutputSanitization: { label: 'Let HTML of the payload through', hint: 'Only for payloads that you trust.' },
  feedId: { label: 'Feed', hint: 'The part of the inbox that shows it.', control: 'feed' },
  actor: { label: 'Image' },
  'actor.type': {
    label: 'Whose image',
    words: { none: 'None', user: 'Of the person', system_icon: 'An icon', system_custom: 'Another image' },
    width: 'half',
  },
  'actor.data': { label: 'Icon or address', hint: '', width: 'half' },
  cta: { label: 'Link and buttons', hint: '' },
  'cta.type': { label: 'Kind', words: { redirect: 'Link' } },
  'cta.data': { label: 'A click opens' },
  'cta.data.url': { label: 'Address', hint: '', width: 'half' },
  'cta.data.target': { label: 'Where', words: targets, width: 'half' },
  'cta.action': { label: 'Buttons', isFlat: true },
  'cta.action.status': { label: 'Pressed already', words: { pending: 'No', done: 'Yes' } },
  'cta.action.buttons': { label: 'Buttons' },
  'cta.action.buttons.type': { label: 'Look', words: looks, width: 'half' },
  'cta.action.buttons.content': { label: 'Words', hint: '', width: 'half' },
  'cta.action.buttons.resultContent': { label: 'Words once pressed', hint: '' },
  'cta.action.buttons.redirect': { label: 'Opens', isFlat: true },
  'cta.action.buttons.redirect.url': { label: 'Opens', hint: '', width: 'half' },
  'cta.action.buttons.redirect.target': { label: 'Where', words: targets, width: 'half' },
  'cta.action.result': { label: 'Once pressed' },
  'cta.action.result.type': { label: 'Which was pressed', words: looks },
  'cta.action.result.payload': { label: 'What it answered, as JSON' },
  data: { label: 'Data for your own inbox, as JSON', hint: '' },
  variables: { label: 'Variables', hint: 'What the templates expect of the payload.' },
  'variables.defaultValue': { label: 'Default' },
  'variables.type': { words: { String: 'Text', Array: 'List', Boolean: 'True or false' } },
  'template.name': { label: 'Name of the template', hint: '' },

  // How long it waits, what it collects.
  'digest.type': {
    label: 'Collects',
    hint: '',
    words: {
      regular: 'for a fixed time after the first event',
      backoff: 'only when events come quickly',
      timed: 'until a time of day',
    },
  },
  'delay.type': {
    label: 'Waits',
    hint: '',
    words: {
      regular: 'for a fixed time',
      scheduled: 'until a time from the payload',
      timed: 'until a time of day',
      dynamic: 'for a duration from the payload',
    },
  },
  'throttle.type': {
    label: 'Counts',
    hint: '',
    words: { fixed: 'within a fixed time', dynamic: 'until a time from the payload' },
  },
  type: { hint: '' },
  amount: { label: 'For', hint: '' },
  'throttle.amount': { label: 'Within', hint: '' },
  'timed.amount': { label: 'Every', hint: '', width: 'third' },
  unit: { label: 'Unit', with: 'amount' },
  'timed.unit': { label: 'Unit', with: 'amount', offers: longUnits },
  timed: { label: 'Time', isFlat: true },
  'timed.atTime': { label: 'At', hint: 'In the person’s time zone.', control: 'time', width: 'third' },
  'timed.weekDays': { label: 'Days of the week', words: namesOf(weekDays), when: { unit: ['weeks'] } },
  'timed.monthlyType': {
    label: 'In the month',
    words: { each: 'on days by their number', on: 'on a day such as the last Friday' },
    fallback: 'each',
    when: { unit: ['months'] },
  },
  'timed.monthDays': {
    label: 'Days of the month',
    hint: 'Numbers with commas between: 1, 15.',
    when: { unit: ['months'], monthlyType: ['each'] },
  },
  'timed.ordinal': {
    label: 'Which one',
    words: { 1: 'The first', 2: 'The second', 3: 'The third', 4: 'The fourth', 5: 'The fifth', last: 'The last' },
    width: 'half',
    when: { unit: ['months'], monthlyType: ['on'] },
  },
  'timed.ordinalValue': {
    label: 'Day',
    words: { ...namesOf(weekDays), day: 'Day', weekday: 'Working day', weekend: 'Day of a weekend' },
    width: 'half',
    when: { unit: ['months'], monthlyType: ['on'] },
  },
  cron: { label: 'As a cron expression', placeholder: '30 8 * * 1-5' },
  extendToSchedule: { label: 'Wait for the person’s delivery hours', hint: '' },
  delayPath: { label: 'Payload field with the time', hint: '', placeholder: 'sendAt' },
  dynamicKey: { label: 'Payload field with the duration', hint: '', placeholder: 'payload.reminder' },
  digestKey: {
    label: 'Collected by',
    hint: 'A member of the payload: events with another value are collected apart. Optional.',
  },
  backoff: { label: 'Let an event after a quiet time through at once', hint: '' },
  backoffAmount: { label: 'Quiet time', hint: 'Else as long as the digest.' },
  backoffUnit: { label: 'Counted in', with: 'backoffAmount' },
  updateMode: { label: 'Update mode' },
  threshold: { label: 'At most', hint: 'notifications for one person', fallback: '1' },
  throttleKey: { label: 'Counted by', hint: 'A member of the payload. Optional.' },

  // What is asked of another service.
  url: { label: 'Address', hint: 'Receives the event. Later steps can use its response.' },
  method: { hint: '', fallback: 'POST' },
  continueOnFailure: { label: 'Go on when it fails', hint: '' },
  headers: { label: 'Headers', hint: '' },
  body: { label: 'More fields of the body, as JSON' },
  timeoutMs: { label: 'Time for an answer, in milliseconds' },
}

/** What most people set, in this order; what is not named is folded away below. */
export const mainFields: readonly string[] = [
  'name',
  'metadata.type',
  'template.subject',
  'template.title',
  'template.preheader',
  'template.senderName',
  'template.layoutId',
  'template.content',
  'metadata.threshold',
  'metadata.amount',
  'metadata.timed',
  'metadata.delayPath',
  'metadata.dynamicKey',
  'metadata.digestKey',
  'metadata.throttleKey',
  'metadata.url',
  'metadata.method',
  'metadata.continueOnFailure',
]

/** Forms of their own, below everything else. */
export const lastFields: readonly string[] = ['filters', 'variants']

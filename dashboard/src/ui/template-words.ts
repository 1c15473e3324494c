// What completion offers in templates: the variables that all have, and the filters beside those that the language knows.
export const standardVariables = [
  'payload',
  ...['subscriber', 'actor'].flatMap((who) =>
    ['subscriberId', 'firstName', 'lastName', 'email', 'phone', 'avatar', 'locale', 'timezone', 'data'].map(
      (member) => `${who}.${member}`,
    ),
  ),
  'subscriber.isOnline',
  'subscriber.lastOnlineAt',
  'tenant.identifier',
  'tenant.name',
  'tenant.data',
  'context',
  'step.digest',
  'step.events',
  'step.total_count',
  'steps',
  'workflow.identifier',
  'workflow.name',
  'workflow.tags',
  'workflow.data',
  'unsubscribe.url',
]

/** Those of docs/workflows.md that Liquid itself does not have. */
export const filters = [
  { label: 'number_format', detail: '1,234.50' },
  { label: 'date_format', detail: 'Monday 2 Mar' },
  { label: 'pluralize', detail: 'items' },
  { label: 'digest', detail: 'Ann, Bob and 2 others' },
  { label: 'to_sentence', detail: 'Ann, Bob, and Cem' },
  { label: 'group_by', detail: 'by a member' },
  { label: 'sort_by', detail: 'by a member' },
  { label: 'unique_by', detail: 'by a member' },
  { label: 'titlecase', detail: 'Ada Lovelace' },
  { label: 'json', detail: 'as JSON' },
  { label: 't', detail: 'a translation' },
].map((one) => ({ ...one, type: 'function' }))

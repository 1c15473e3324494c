// The schemas of preferences: switches, hours, frequency; in requests and in responses.
import type { TObject, TSchemaOptions } from 'typebox'
import { Type } from 'typebox'
import { channels as channelNames } from '../../../domain/delivery/integration.ts'
import { frequencyTypes } from '../../../domain/preferences/preference.ts'
import { outsideWays } from '../../../domain/preferences/schedule.ts'
import { timePattern } from '../../../domain/time/time-of-day.ts'
import { severities, weekDays } from '../../../domain/workflows/workflow.ts'
import { freeObject, identifierText, literals, nullableBoolean, nullableString, timestamp } from '../../schemas.ts'

/** More breaks in a day than anyone takes. */
const rangesPerDayMax = 24

/** An object or null, with one type list instead of a union, for short error messages. */
const orNull = <Schema extends TObject>(schema: Schema, options: TSchemaOptions = {}) =>
  Type.Unsafe<Type.Static<Schema> | null>({ ...schema, type: ['object', 'null'], ...options })

const time = (description: string) => Type.String({ pattern: timePattern, maxLength: 8, description })
/** A misspelt day or hour would close, or open, all of it. */
const closed = { additionalProperties: false } as const
const day = Type.Object(
  {
    isEnabled: Type.Boolean(),
    hours: Type.Optional(
      Type.Array(
        Type.Object(
          {
            start: time('Such as `09:00 AM` or `9am`, or `09:00` in 24-hour time.'),
            end: time('An end that is not after the start is on the next day; `11:59 PM` means the end of the day.'),
          },
          closed,
        ),
        { maxItems: rangesPerDayMax, description: 'Without any, the whole day is open.' },
      ),
    ),
  },
  closed,
)
const week = Type.Object(
  {
    monday: Type.Optional(day),
    tuesday: Type.Optional(day),
    wednesday: Type.Optional(day),
    thursday: Type.Optional(day),
    friday: Type.Optional(day),
    saturday: Type.Optional(day),
    sunday: Type.Optional(day),
  },
  { ...closed, description: 'In the time zone of the subscriber. Omitted days are closed.' },
)
const outsideMeaning =
  'What happens to e-mail, SMS, push, chat and custom steps outside the hours: `skip` drops them, `hold` sends each when the hours begin, `bundle` combines those of one step into one message, with all events in `step.events`.'

export const schedule = Type.Object(
  {
    isEnabled: Type.Boolean(),
    weeklySchedule: Type.Optional(week),
    outside: Type.Optional(literals(outsideWays, { description: outsideMeaning })),
  },
  { title: 'SubscriberSchedule' },
)

const frequencyMembers = {
  type: literals(frequencyTypes, {
    description:
      '`instant`, `hourly` (an hour after the first event), `daily` or `weekly`: events in between are sent as one message.',
  }),
  atTime: Type.Optional(time('Daily and weekly: the time of day, such as `18:00` or `6pm`. Default: 09:00.')),
  weekDay: Type.Optional(literals(weekDays, { description: 'Weekly: the day. Default: Monday.' })),
}
const frequency = Type.Object(frequencyMembers, { title: 'PreferenceFrequency' })

const switchable = Object.fromEntries(channelNames.map((name) => [name, Type.Optional(Type.Boolean())]))
const channels = Type.Object(switchable, { title: 'PreferenceChannels' })

const channelsChange = orNull(
  Type.Object({
    in_app: Type.Optional(nullableBoolean()),
    email: Type.Optional(nullableBoolean()),
    sms: Type.Optional(nullableBoolean()),
    chat: Type.Optional(nullableBoolean()),
    push: Type.Optional(nullableBoolean()),
  }),
  { description: 'Omitted channels are unchanged; null removes the choice, so that the next level decides.' },
)
const enabled = nullableBoolean({ description: 'False switches off every channel that is not set itself.' })

/** What can be set for one workflow. */
export const workflowChange = {
  enabled: Type.Optional(enabled),
  channels: Type.Optional(channelsChange),
  frequency: Type.Optional(
    orNull(Type.Object(frequencyMembers), {
      description: 'For one workflow only: how often to be notified outside the feed.',
    }),
  ),
}
/** What can be set for all. */
export const globalChange = {
  enabled: Type.Optional(enabled),
  channels: Type.Optional(channelsChange),
  schedule: Type.Optional(
    orNull(
      Type.Object({
        isEnabled: Type.Optional(Type.Boolean()),
        weeklySchedule: Type.Optional(orNull(week)),
        outside: Type.Optional(
          Type.Unsafe<(typeof outsideWays)[number] | null>({
            type: ['string', 'null'],
            enum: [...outsideWays, null],
            description: outsideMeaning,
          }),
        ),
      }),
      {
        description:
          'For all workflows: the hours in which to be notified. Omitted fields are unchanged; the week is replaced.',
      },
    ),
  ),
  doNotDisturbUntil: Type.Optional(
    nullableString({
      format: 'date-time',
      maxLength: 64,
      description:
        'For all workflows: do not disturb before this time; then everything held back is sent as one message.',
    }),
  ),
}

export const workflowId = identifierText({ maxLength: 255, description: 'The workflow’s id or identifier.' })

const overrides = Type.Array(
  Type.Object({ channel: literals(channelNames), source: literals(['subscriber', 'workflowOverride', 'template']) }),
  { description: 'Which level decided each channel.' },
)
const resolved = { enabled: Type.Boolean(), channels }

export const preferencesAnswer = Type.Object(
  {
    global: Type.Object({
      ...resolved,
      schedule: Type.Optional(schedule),
      doNotDisturbUntil: Type.Optional(timestamp()),
    }),
    workflows: Type.Array(
      Type.Object({
        ...resolved,
        overrides,
        workflow: Type.Object({
          id: Type.String(),
          slug: Type.String(),
          identifier: Type.String(),
          name: Type.String(),
          critical: Type.Boolean(),
          updatedAt: timestamp(),
        }),
        frequency: Type.Optional(frequency),
        updatedAt: Type.Optional(timestamp({ description: 'When the subscriber last changed a preference for it.' })),
      }),
    ),
    hasMore: Type.Boolean({ description: 'Whether there are more workflows on the next page.' }),
  },
  { title: 'SubscriberPreferences' },
)

const workflowMembers = {
  id: Type.String(),
  identifier: Type.String(),
  name: Type.String(),
  critical: Type.Boolean(),
  tags: Type.Array(Type.String()),
}
const workflowSeverity = literals(severities)
/** Where it would be repeated many times: without its data. */
export const briefWorkflow = Type.Object({ ...workflowMembers, severity: workflowSeverity })

export const leveledPreference = Type.Object(
  {
    level: literals(['global', 'template']),
    ...resolved,
    workflow: Type.Object({ ...workflowMembers, data: Type.Optional(freeObject()), severity: workflowSeverity }),
    frequency: Type.Optional(frequency),
  },
  { title: 'WorkflowPreference' },
)

export const inboxPreference = Type.Object(
  {
    level: literals(['global', 'template'], { description: '`template`: for one workflow.' }),
    ...resolved,
    overrides,
    workflow: Type.Optional(leveledPreference.properties.workflow),
    frequency: Type.Optional(frequency),
    schedule: Type.Optional(schedule),
    subscriptionId: Type.Optional(
      Type.String({ description: 'Of a preference for a single subscription to a topic.' }),
    ),
    condition: Type.Optional(freeObject({ description: 'Of a preference for a single subscription to a topic.' })),
  },
  { title: 'InboxPreference' },
)

export const globalPreference = Type.Object({ preference: Type.Object(resolved) }, { title: 'GlobalPreference' })

export const templatePreference = Type.Object(
  {
    template: Type.Object({
      _id: Type.String(),
      name: Type.String(),
      critical: Type.Boolean(),
      triggers: Type.Array(
        Type.Object({ type: Type.String(), identifier: Type.String(), variables: Type.Array(freeObject()) }),
      ),
    }),
    preference: Type.Object({ ...resolved, overrides }),
  },
  { title: 'TemplatePreference' },
)

// The schemas of redrives: the filter, the progress, the preview.
import { Type } from 'typebox'
import { channels } from '../../../domain/delivery/integration.ts'
import { failureReasons, redriveStates } from '../../../domain/delivery/redrive.ts'
import { identifierText, literals, optionalTimestamp, timestamp } from '../../schemas.ts'

const errorLengthMax = 200

export const redriveFilter = Type.Object(
  {
    workflow: Type.Optional(identifierText({ maxLength: 255, description: 'The workflow’s identifier.' })),
    channel: Type.Optional(literals(channels, { description: 'Only steps of this channel.' })),
    providerId: Type.Optional(
      identifierText({ maxLength: 100, description: 'The provider of the last attempt, or of the next one.' }),
    ),
    reason: Type.Optional(literals(failureReasons, { description: 'The code of the failure.' })),
    errorContains: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: errorLengthMax,
        description: 'Text contained in the error of the failure; case-insensitive.',
      }),
    ),
    from: optionalTimestamp('ISO 8601: events accepted at or after this time.'),
    to: optionalTimestamp('ISO 8601: events accepted before this time.'),
    subscriberId: Type.Optional(identifierText({ maxLength: 255 })),
    transactionId: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  },
  { description: 'At least one filter is required; all given filters must match.' },
)

const skipped = Type.Record(Type.String(), Type.Integer(), {
  description:
    'Notifications that were skipped, by reason (`running`, `nothingFailed`, `canceled`, `retracted`, `gone`, `perhapsSent`, `suppressed`, `contentGone`, `filesGone`, `tooOften`).',
})

export const redrive = Type.Object(
  {
    _id: Type.String(),
    state: literals(redriveStates, {
      description: '`buried`: it repeatedly failed because of an internal error and is listed in `/v1/buried`.',
    }),
    filter: redriveFilter,
    lookedAt: Type.Integer({ description: 'Failed steps examined so far.' }),
    matched: Type.Integer({ description: 'Notifications that match.' }),
    redriven: Type.Integer({ description: 'The number of those that are redriven.' }),
    skipped,
    requestedBy: Type.String({ description: 'The id of the key.' }),
    createdAt: timestamp(),
    updatedAt: timestamp(),
    endedAt: Type.Optional(timestamp()),
  },
  { title: 'Redrive' },
)

export const dryRunReply = Type.Object(
  {
    dryRun: Type.Boolean(),
    lookedAt: Type.Integer({ description: 'Failed steps examined.' }),
    isCapped: Type.Boolean({ description: 'Whether there are more than were examined.' }),
    matched: Type.Integer({ description: 'Notifications that match.' }),
    reasons: Type.Array(
      Type.Object({
        reason: literals(failureReasons),
        count: Type.Integer(),
        notificationIds: Type.Array(Type.String(), { description: 'A sample of them.' }),
      }),
      { description: 'Most frequent first.' },
    ),
  },
  { title: 'RedriveDryRun' },
)

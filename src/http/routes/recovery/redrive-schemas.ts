// The schemas of redrives: what is looked for, how far it is, what it would find.
import { Type } from 'typebox'
import { channels } from '../../../domain/delivery/integration.ts'
import { failureReasons, redriveStates } from '../../../domain/delivery/redrive.ts'
import { identifierText, literals, timestamp } from '../../schemas.ts'

/** As long as an ISO 8601 moment can be, and some more. */
const momentLengthMax = 64
const errorLengthMax = 200

const moment = (description: string) => Type.Optional(Type.String({ maxLength: momentLengthMax, description }))

export const redriveFilter = Type.Object(
  {
    workflow: Type.Optional(identifierText({ maxLength: 255, description: 'The workflow’s identifier.' })),
    channel: Type.Optional(literals(channels, { description: 'Only steps of this channel.' })),
    providerId: Type.Optional(
      identifierText({ maxLength: 100, description: 'The provider that was asked last, or was to be.' }),
    ),
    reason: Type.Optional(literals(failureReasons, { description: 'The code of what made the step fail.' })),
    errorContains: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: errorLengthMax,
        description: 'Text that what was said of the failure contains, in capitals or not.',
      }),
    ),
    from: moment('ISO 8601: events accepted at or after it.'),
    to: moment('ISO 8601: events accepted before it.'),
    subscriberId: Type.Optional(identifierText({ maxLength: 255 })),
    transactionId: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  },
  { description: 'All that are given must fit; at least one must be given.' },
)

const skipped = Type.Record(Type.String(), Type.Integer(), {
  description:
    'By reason: notifications that were left as they are (`running`, `nothingFailed`, `canceled`, `retracted`, `gone`, `perhapsSent`, `suppressed`, `contentGone`, `filesGone`, `tooOften`).',
})

export const redrive = Type.Object(
  {
    _id: Type.String(),
    state: literals(redriveStates, {
      description: '`buried`: it met a fault of the service again and again, and is listed in `/v1/buried`.',
    }),
    filter: redriveFilter,
    lookedAt: Type.Integer({ description: 'Failed steps looked at so far.' }),
    matched: Type.Integer({ description: 'Notifications that fit.' }),
    redriven: Type.Integer({ description: 'Of these, those that are sent again.' }),
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
    lookedAt: Type.Integer({ description: 'Failed steps looked at.' }),
    isCapped: Type.Boolean({ description: 'Whether there are more than were looked at.' }),
    matched: Type.Integer({ description: 'Notifications that fit.' }),
    reasons: Type.Array(
      Type.Object({
        reason: literals(failureReasons),
        count: Type.Integer(),
        notificationIds: Type.Array(Type.String(), { description: 'Some of them.' }),
      }),
      { description: 'Most frequent first.' },
    ),
  },
  { title: 'RedriveDryRun' },
)

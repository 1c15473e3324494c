// The schemas of conditions: the public StepFilter, and extensions.
import type { TSchema } from 'typebox'
import { Type } from 'typebox'
import {
  filterJoins,
  filterKinds,
  filterOperators,
  filterSources,
  filterTypes,
  previousStepTypes,
  timeOperators,
} from '../../../domain/conditions/condition.ts'
import { literals } from '../../schemas.ts'

const filtersMax = 20
const childrenMax = 50
const fieldLengthMax = 255
const valueLengthMax = 1024
const addressLengthMax = 2048

const moreMeaning =
  'Conditions that some clients cannot read, such as those on the tenant. Responses return them here; both lists are combined.'

const filterOf = <Part extends TSchema>(title: string, part: Part) =>
  Type.Object(
    {
      isNegated: Type.Boolean({ default: false }),
      type: literals(filterTypes, { default: 'GROUP' }),
      value: literals(filterJoins, { default: 'AND' }),
      children: Type.Array(part, { maxItems: childrenMax, default: [] }),
      moreChildren: Type.Optional(Type.Array(part, { maxItems: childrenMax, description: moreMeaning })),
    },
    {
      title,
      examples: [
        {
          isNegated: false,
          type: 'GROUP',
          value: 'AND',
          children: [{ field: 'plan', value: 'team', operator: 'EQUAL', on: 'payload' }],
        },
      ],
    },
  )

const fieldFilterPart = Type.Object(
  {
    field: Type.String({ minLength: 1, maxLength: fieldLengthMax }),
    value: Type.String({ maxLength: valueLengthMax }),
    operator: literals(filterOperators),
    on: literals(filterSources),
  },
  { title: 'FieldFilterPart' },
)

export const integrationFilters = Type.Array(filterOf('IntegrationFilter', fieldFilterPart), {
  maxItems: filtersMax,
  description:
    'Which messages the integration sends; none means every message. An integration with conditions is never primary.',
})

/** The fields of all kinds: which of them belong together is checked by the rules, each by its name. */
const stepFilterPart = Type.Object(
  {
    on: literals(filterKinds, {
      description: 'What the condition is about; it determines which of the other fields apply.',
    }),
    field: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: fieldLengthMax,
        description: 'A path into the payload, the subscriber, the tenant or the webhook response.',
      }),
    ),
    value: Type.Optional(
      Type.Unsafe<string | number | boolean>({
        type: ['boolean', 'number', 'string'],
        maxLength: valueLengthMax,
        description:
          'The value to compare with, as a template; true or false for `isOnline`; a number for `isOnlineInLast`.',
      }),
    ),
    operator: Type.Optional(literals(filterOperators)),
    webhookUrl: Type.Optional(
      Type.String({
        maxLength: addressLengthMax,
        format: 'web-address',
        description:
          'For `webhook`: receives a signed POST with `{subscriber, payload, identifier, channel}` and returns a JSON object.',
      }),
    ),
    timeOperator: Type.Optional(literals(timeOperators, { description: 'For `isOnlineInLast`.' })),
    step: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: fieldLengthMax,
        description: 'For `previousStep`: the `uuid`, the `_id` or the slug of the name of an earlier step.',
      }),
    ),
    stepType: Type.Optional(
      literals(previousStepTypes, {
        description: 'For `previousStep`: the state of its messages. True if it has none.',
      }),
    ),
  },
  {
    title: 'StepFilterPart',
    examples: [
      { on: 'payload', field: 'plan', operator: 'EQUAL', value: 'team' },
      { on: 'previousStep', step: 'in-app', stepType: 'unread' },
    ],
  },
)

export const stepFilter = filterOf('StepFilter', stepFilterPart)

export const stepFilters = Type.Array(stepFilter, {
  maxItems: filtersMax,
  description: 'The step runs if any of them passes; none means always.',
})

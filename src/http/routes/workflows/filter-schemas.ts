// The schemas of conditions: the StepFilter of the interface, and what goes beyond it.
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
  'Children that clients of the interface cannot read: on the tenant and the like. Answers hold them here; both lists are joined.'

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
    'Which messages the integration is for; none means every message. An integration with conditions is never primary.',
})

/** All members of all kinds: which of them belong together is told by the rules, each by its name. */
const stepFilterPart = Type.Object(
  {
    on: literals(filterKinds, { description: 'What is asked; which of the other members count depends on it.' }),
    field: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: fieldLengthMax,
        description: 'A path into the payload, the subscriber, the tenant or the webhook’s answer.',
      }),
    ),
    value: Type.Optional(
      Type.Unsafe<string | number | boolean>({
        type: ['boolean', 'number', 'string'],
        maxLength: valueLengthMax,
        description:
          'What the field is compared with, a template; of `isOnline` true or false; of `isOnlineInLast` a number.',
      }),
    ),
    operator: Type.Optional(literals(filterOperators)),
    webhookUrl: Type.Optional(
      Type.String({
        maxLength: addressLengthMax,
        format: 'web-address',
        description:
          'Of `webhook`: asked by a signed POST of `{subscriber, payload, identifier, channel}`, and answers a JSON object.',
      }),
    ),
    timeOperator: Type.Optional(literals(timeOperators, { description: 'Of `isOnlineInLast`.' })),
    step: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: fieldLengthMax,
        description: 'Of `previousStep`: the `uuid`, the `_id` or the slug of the name of an earlier step.',
      }),
    ),
    stepType: Type.Optional(
      literals(previousStepTypes, {
        description: 'Of `previousStep`: what became of its messages. Holds where it made none.',
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
  description: 'When it runs: if any of them passes; none means always.',
})

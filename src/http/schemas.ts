// Schema pieces that several routes share: nullable strings, identifiers, list parameters, envelopes, the error body.
import type { TObject, TSchema, TSchemaOptions } from 'typebox'
import { Type } from 'typebox'

/** `string or null` of the interface: one type list instead of a union, for short error messages. */
export const nullableString = (options: TSchemaOptions & { maxLength?: number; format?: string } = {}) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], ...options })

export const nullableBoolean = (options: TSchemaOptions = {}) =>
  Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], ...options })

/** A free-form JSON object. */
export const freeObject = (options: TSchemaOptions = {}) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, ...options })

export const nullableFreeObject = (options: TSchemaOptions = {}) =>
  Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'], additionalProperties: true, ...options })

export const literals = <const Values extends readonly string[]>(values: Values, options: TSchemaOptions = {}) =>
  Type.Unsafe<Values[number]>({ type: 'string', enum: values, ...options })

/** Text without control characters: what an id may contain. */
export const identifierText = (options: TSchemaOptions & { maxLength: number }) =>
  Type.String({ minLength: 1, pattern: '^\\P{Cc}+$', ...options })

export const timestamp = (options: TSchemaOptions = {}) => Type.String({ format: 'date-time', ...options })
/** Longer than any ISO 8601 timestamp. */
const timestampLengthMax = 64
/** As a filter: whether it is one is checked where it is read. */
export const optionalTimestamp = (description: string) =>
  Type.Optional(Type.String({ maxLength: timestampLengthMax, description }))

export const uuid = (options: TSchemaOptions = {}) => Type.String({ format: 'uuid', ...options })

export const pageLimitMax = 100

/** The cursor parameters that lists share. */
export const cursorParameters = <const OrderBy extends readonly string[]>(orderBy: OrderBy) => ({
  after: Type.Optional(Type.String({ maxLength: 2048, description: 'A cursor: returns the results after it.' })),
  before: Type.Optional(Type.String({ maxLength: 2048, description: 'A cursor: returns the results before it.' })),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: pageLimitMax, default: 10, description: 'The maximum number of results.' }),
  ),
  orderDirection: Type.Optional(
    literals(['ASC', 'DESC'], { default: 'DESC', description: 'Newest first unless `ASC`.' }),
  ),
  orderBy: Type.Optional(literals(orderBy, { default: '_id', description: 'What to sort by.' })),
  includeCursor: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether to include the item of the cursor itself.' }),
  ),
})

export const cursorPage = (name: string, item: TSchema): TObject =>
  Type.Object(
    {
      data: Type.Array(item),
      next: nullableString({ description: 'Pass it as `after` to get the next page; null on the last page.' }),
      previous: nullableString({
        description: 'Pass it as `before` to get the previous page; null on the first page.',
      }),
      totalCount: Type.Integer({ description: 'The total number, counted up to 50,000.' }),
      totalCountCapped: Type.Boolean({ description: 'Whether there are more than 50,000.' }),
    },
    { title: name },
  )

export const offsetParameters = (limitMax: number) => ({
  page: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'Page, from 0.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limitMax, default: 10, description: 'Items per page.' })),
})

export const offsetPage = (name: string, item: TSchema): TObject =>
  Type.Object(
    {
      data: Type.Array(item),
      hasMore: Type.Boolean(),
      pageSize: Type.Integer(),
      page: Type.Integer(),
      totalCount: Type.Optional(Type.Integer({ description: 'Absent above 50,000.' })),
    },
    { title: name },
  )

export const errorBody = Type.Object(
  {
    statusCode: Type.Integer(),
    timestamp: timestamp(),
    path: Type.String({ description: 'The path and query string of the request.' }),
    message: Type.String({ description: 'What is wrong, and how to fix it.' }),
    error: Type.Optional(Type.String({ description: 'The name of the HTTP status.' })),
    errorId: Type.Optional(Type.String({ description: 'Only on 500: quote it when you report the error.' })),
    errors: Type.Optional(
      Type.Unknown({
        description: 'Per field: `{"<field path>": {"messages": [...], "value": ...}}`; an array under `/v1/events`.',
      }),
    ),
    ctx: Type.Optional(freeObject()),
  },
  {
    title: 'Error',
    additionalProperties: true,
    examples: [
      {
        statusCode: 404,
        timestamp: '2026-01-02T03:04:05.678Z',
        path: '/v2/subscribers/grace',
        message: 'Subscriber grace was not found',
        error: 'Not Found',
        ctx: {},
      },
    ],
  },
)

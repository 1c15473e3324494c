// The OpenAPI 3.1 document, made from the same route objects that validate and serialise.
import type { Documented } from '../route.ts'
import { errorBody } from '../schemas.ts'
import { exampleOf } from './example.ts'
import { tags } from './tags.ts'

type Json = Record<string, unknown>

const commonErrors = [400, 401, 403, 415, 422, 429, 500, 503]
const errorMeanings: Record<number, string> = {
  400: 'The request is malformed',
  401: 'No valid API key',
  403: 'The API key lacks the required scope',
  404: 'Not found',
  409: 'The resource already exists, or a request with the same idempotency key is in progress',
  413: 'The body is too large',
  415: 'The body is not sent as JSON',
  422: 'The request does not match its schema; `errors` lists every invalid field',
  429: 'Too many requests; see Retry-After',
  500: 'An internal error; quote the errorId when you report it',
  503: 'The database is unavailable; try again',
}

export function openApiDocument(routes: readonly Documented[], baseUrl: string): Json {
  const components: Json = {}
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = paths[route.path] ?? {}
    path[route.method.toLowerCase()] = operationOf(route, components)
    paths[route.path] = path
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Posthorn',
      version: '1',
      summary: 'Self-hosted notification delivery',
      description:
        'Tell Posthorn what happened and who should know. It chooses the channel, the time, the content and the provider, and records what it did. Send `Authorization: ApiKey <key>` with every request; the key determines the environment. The response header `Posthorn-Warnings` names fields and parameters that are not known. Inbox requests send the token of a subscriber session instead.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    security: [{ ApiKey: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: sorted(components),
      examples: errorExamples(),
      securitySchemes: {
        ApiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description:
            'The word `ApiKey`, a space, and the key; `Bearer` is accepted in place of `ApiKey`. The role listed by an operation is the scope that the key needs; `full` always suffices, and `read` includes `outbox:read`.',
        },
        InboxSession: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'The token of a session (`POST /v1/inbox/session`), valid for inbox requests only.',
        },
      },
    },
  }
}

function operationOf(route: Documented, components: Json): Json {
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    security: securityOf(route),
    parameters: [
      ...parametersOf('path', route.params),
      ...parametersOf('query', route.query),
      ...idempotencyHeader(route),
    ],
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: true, content: jsonContent(hoist(route.shownBody ?? route.body, components)) } }),
    responses: { ...successes(route, components), ...failures(route, components) },
  }
}

/** For keys, the scope that is needed stands as a role, as OpenAPI 3.1 allows; `full` always does. */
function securityOf({ opensWith, scope }: Documented): Json[] {
  if (opensWith === 'nothing') return []
  return [opensWith === 'session' ? { InboxSession: [] } : { ApiKey: scope === undefined ? [] : [scope] }]
}

function parametersOf(place: 'path' | 'query', schema: unknown): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = plain(property)
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    }
  })
}

function idempotencyHeader(route: Documented): Json[] {
  if (route.method === 'GET' || route.opensWith !== undefined) return []
  const description =
    'Repeating a request with the same key and body within 24 hours returns the first response and changes nothing.'
  return [
    { name: 'idempotency-key', in: 'header', required: false, description, schema: { type: 'string', maxLength: 255 } },
  ]
}

function successes(route: Documented, components: Json): Json {
  return Object.fromEntries(
    Object.entries(route.replies).map(([status, schema]) => [
      status,
      schema === null || schema === undefined
        ? { description: 'Done', ...(route.produces === undefined ? {} : { content: documentContent(route.produces) }) }
        : {
            description: meanings[status] ?? 'OK',
            content: jsonContent(hoist(schema, components), { example: exampleOf(schema) }),
          },
    ]),
  )
}

/** Answers that are not JSON, by the beginning of their media type. */
const documentExamples: Readonly<Record<string, string>> = {
  'message/rfc822':
    'From: Acme <hello@example.com>\r\nTo: ada@example.com\r\nSubject: Order 7 is on its way\r\n\r\nHello Ada\r\n',
  'text/html': '<!DOCTYPE html><html><body><p>Hello Ada</p></body></html>',
  'text/event-stream':
    'event: activity\ndata: {"created":1,"changed":3,"newest":"019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21"}\n\n',
  'application/x-ndjson': '{"kind":"header","format":"posthorn-subscriber","version":1}\n{"kind":"end","counts":{}}\n',
}

function documentContent(produces: string): Json {
  const example = documentExamples[produces.split(';')[0] ?? '']
  return { [produces]: example === undefined ? {} : { example } }
}

const meanings: Record<string, string> = { 201: 'Created', 202: 'Accepted' }

function failures(route: Documented, components: Json): Json {
  const statuses = [
    ...new Set([
      ...commonErrors,
      ...(route.errors ?? []),
      // Any write may meet its own idempotency key in progress.
      ...(route.method === 'GET' || route.opensWith !== undefined ? [] : [409]),
      ...(route.body === undefined ? [] : [413]),
    ]),
  ].sort()
  const schema = hoist(errorBody, components)
  return Object.fromEntries(
    statuses.map((status) => {
      const examples = { error: { $ref: `#/components/examples/Error${status}` } }
      return [status, { description: errorMeanings[status], content: jsonContent(schema, { examples }) }]
    }),
  )
}

/** What callers see, as the error body of each status. */
const errorMessages: Readonly<Record<number, Json>> = {
  400: { message: 'The body is not sent as JSON', error: 'Bad Request' },
  401: { message: 'API Key not found', error: 'Unauthorized' },
  403: { message: 'This API key is not allowed to do this: it needs the scope "full"', error: 'Forbidden' },
  404: { message: 'Subscriber ada was not found', error: 'Not Found' },
  409: { message: 'Topic with key "project:42" already exists', error: 'Conflict' },
  413: { message: 'The body is larger than this endpoint allows', error: 'Payload Too Large' },
  415: { message: 'The body must be sent as application/json', error: 'Unsupported Media Type' },
  422: {
    message: 'Validation Error',
    error: 'Unprocessable Entity',
    errors: { key: { messages: ['key must NOT have fewer than 1 characters'], value: '' } },
  },
  429: { message: 'API rate limit exceeded', error: 'Too Many Requests' },
  500: {
    message: 'Internal server error, contact support and provide them with the errorId',
    error: 'Internal Server Error',
    errorId: '019b7ca9-8f2e-7a11-9d0c-5f3c2b1a0e44',
  },
  503: { message: 'The database is temporarily unavailable', error: 'Service Unavailable' },
}

function errorExamples(): Json {
  const common = { timestamp: '2026-01-02T03:04:05.678Z', path: '/v2/subscribers/ada', ctx: {} }
  return Object.fromEntries(
    Object.entries(errorMessages).map(([status, message]) => [
      `Error${status}`,
      { summary: errorMeanings[Number(status)], value: { statusCode: Number(status), ...common, ...message } },
    ]),
  )
}

const jsonContent = (schema: unknown, example: Json = {}): Json => ({ 'application/json': { schema, ...example } })

/** Schemas with a title become components and are referred to by name, so that clients get named types. */
function hoist(schema: unknown, components: Json): unknown {
  if (Array.isArray(schema)) return schema.map((part) => hoist(part, components))
  if (typeof schema !== 'object' || schema === null) return schema
  const parts = Object.fromEntries(
    Object.entries(schema).map(([name, part]) => [
      name,
      name === 'examples' || name === 'enum' ? part : hoist(part, components),
    ]),
  )
  const title = parts['title']
  if (typeof title !== 'string') return parts
  components[title] = parts
  return { $ref: `#/components/schemas/${title}` }
}

const plain = (schema: unknown): Json => JSON.parse(JSON.stringify(schema)) as Json
const sorted = (object: Json): Json => Object.fromEntries(Object.entries(object).sort(([a], [b]) => a.localeCompare(b)))

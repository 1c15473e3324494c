// The examples of the OpenAPI document: every answer has one, and each is what its schema says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { exampleOf } from '../../src/http/openapi/example.ts'
import { openApiDocument } from '../../src/http/openapi/openapi.ts'
import { tags } from '../../src/http/openapi/tags.ts'
import { documentedRoutes, routes } from '../../src/http/registry.ts'
import type { Json } from '../support/app.ts'

const document: Json = JSON.parse(JSON.stringify(openApiDocument(documentedRoutes, 'http://localhost:3000')))

interface Answer {
  readonly name: string
  readonly status: string
  readonly content: Json
}

const answers: Answer[] = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
  Object.entries<Json>(methods).flatMap(([method, operation]) =>
    Object.entries<Json>(operation.responses).flatMap(([status, { content = {} }]) =>
      Object.values<Json>(content).map((one) => ({
        name: `${method.toUpperCase()} ${path} ${status}`,
        status,
        content: one,
      })),
    ),
  ),
)

function examplesIn({ example, examples = {} }: Json): Json[] {
  const named = Object.values<Json>(examples).map(
    ({ $ref }) => document.components.examples[$ref.split('/').at(-1)].value,
  )
  return example === undefined ? named : [example, ...named]
}

const ajv = new Ajv2020({ strict: false, allowUnionTypes: true })
formats.default(ajv)
for (const format of ['locale', 'timezone', 'web-address']) ajv.addFormat(format, true)
ajv.addSchema({ $id: 'document', components: document.components })
/** References are read from the document. */
const checkOf = (schema: Json) =>
  ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components')))

test('every answer with a body has an example', () => {
  assert.ok(answers.length > 1_000)
  assert.deepEqual(
    answers.filter(({ content }) => examplesIn(content).length === 0).map(({ name }) => name),
    [],
  )
})

test('every example fits the schema of its answer', () => {
  // Errors share a schema and a dozen examples: each pair is checked once.
  const seen = new Set<string>()
  for (const { name, content } of answers) {
    if (content.schema === undefined) continue
    const pair = JSON.stringify(content)
    if (seen.has(pair)) continue
    seen.add(pair)
    const fits = checkOf(content.schema)
    for (const example of examplesIn(content)) assert.ok(fits(example), `${name}: ${ajv.errorsText(fits.errors)}`)
  }
  assert.equal(checkOf({ $ref: '#/components/schemas/TriggerResult' })({ status: 'fine' }), false)
})

test('the example of an error has the status it stands for', () => {
  for (const { name, status, content } of answers) {
    if (status < '400') continue
    for (const { statusCode } of examplesIn(content)) assert.equal(String(statusCode), status, name)
  }
})

test('a trigger is shown as processed, and comes first', () => {
  const [path, methods] = Object.entries<Json>(document.paths)[0] ?? []
  assert.equal(path, '/v1/events/trigger')
  const [example] = examplesIn(methods.post.responses['201'].content['application/json'])
  assert.equal(example.status, 'processed')
  assert.equal(Object.keys(tags)[0], 'Events')
})

test('overrides and attachments have schemas that take whatever the call takes', () => {
  const { TriggerEvent, TriggerOverrides, TriggerPayload, Attachment } = document.components.schemas
  assert.equal(TriggerEvent.properties.overrides.$ref, '#/components/schemas/TriggerOverrides')
  assert.ok(Object.keys(TriggerOverrides.properties).includes('email'))
  assert.equal(TriggerOverrides.additionalProperties, true)
  assert.equal(TriggerPayload.additionalProperties, true)
  assert.deepEqual(Attachment.required, ['file'])
  // What validates is as lenient as ever.
  const trigger = routes.find(({ operationId }) => operationId === 'triggerEvent')
  const lenient = ajv.compile(JSON.parse(JSON.stringify(trigger?.body)))
  assert.ok(
    lenient({ name: 'a', to: 'b', overrides: { email: { cc: 5 }, fcm: { x: 1 } }, payload: { attachments: 'mine' } }),
  )
})

test('an example is made of required members, by their names, types and formats', () => {
  const schema = {
    type: 'object',
    required: ['subscriberId', 'kind', 'createdAt', 'count', 'list', 'perhaps'],
    properties: {
      subscriberId: { type: 'string' },
      kind: { type: 'string', enum: ['one', 'two'] },
      createdAt: { type: 'string', format: 'date-time' },
      count: { type: 'integer' },
      list: { type: 'array', items: { type: 'string' } },
      perhaps: { anyOf: [{ type: 'null' }, { type: 'boolean' }] },
      optional: { type: 'string' },
    },
  }
  assert.deepEqual(exampleOf(schema), {
    subscriberId: 'user-1',
    kind: 'one',
    createdAt: '2026-01-02T03:04:05.678Z',
    count: 40,
    list: [],
    perhaps: false,
  })
  assert.equal(exampleOf({ type: 'string', examples: ['given'] }), 'given')
})

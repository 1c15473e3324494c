// The OpenAPI document: valid, complete, true to the routes, and served with its reference page.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { validate } from '@scalar/openapi-parser'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { openApiDocument } from '../../src/http/openapi/openapi.ts'
import { documentedRoutes } from '../../src/http/registry.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'

const baseUrl = 'http://localhost:3000'
const document = plain(openApiDocument(documentedRoutes, baseUrl))
const operations: { name: string; operation: Json }[] = Object.entries<Json>(document.paths).flatMap(
  ([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
)

/** The endpoints of the interface, with the statuses of their success. */
const interfaceEndpoints: Readonly<Record<string, readonly string[]>> = {
  'PUT /v1/subscribers/{subscriberId}/credentials': ['200'],
  'POST /v2/subscribers': ['201'],
  'PATCH /v2/subscribers/{subscriberId}': ['200'],
  'GET /v1/subscribers/{subscriberId}/notifications/feed': ['200'],
  'GET /v2/subscribers': ['200'],
  'GET /v2/topics/{topicKey}/subscriptions': ['200'],
  'PUT /v1/integrations/{integrationId}': ['200'],
  'POST /v1/integrations': ['201'],
  'DELETE /v1/integrations/{integrationId}': ['200'],
  'GET /v2/topics': ['200'],
  'POST /v2/topics': ['200', '201'],
  'GET /v1/messages': ['200'],
  'POST /v1/events/trigger/bulk': ['201'],
  'GET /v1/notifications': ['200'],
  'GET /v1/notifications/{notificationId}': ['200'],
}

function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value))
}

function* partsOf(value: Json): Generator<Json> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value
  for (const part of Object.values(value)) yield* partsOf(part)
}

function resolve(root: Json, reference: string): Json {
  return reference
    .replace(/^#\//, '')
    .split('/')
    .reduce((at, name) => at?.[name.replaceAll('~1', '/').replaceAll('~0', '~')], root)
}

const deadReferences = (root: Json): string[] =>
  [...partsOf(root)].flatMap(({ $ref }) =>
    typeof $ref === 'string' && resolve(root, $ref) === undefined ? [$ref] : [],
  )

/** Titles become names of components, and a second schema of the same name would silently replace the first. */
function sharedTitles(schemas: readonly unknown[]): string[] {
  const byTitle = new Map<string, Set<string>>()
  for (const part of schemas.flatMap((schema) => [...partsOf(plain(schema ?? null))])) {
    if (typeof part.title !== 'string') continue
    byTitle.set(part.title, (byTitle.get(part.title) ?? new Set()).add(JSON.stringify(part)))
  }
  return [...byTitle].filter(([, texts]) => texts.size > 1).map(([title]) => title)
}

/** Formats of our own, which http checks itself. */
const ownFormats = ['locale', 'timezone', 'web-address']

/** Extensions that OpenAPI allows: which members a step of each type has. */
const ownKeywords = ['x-steps']

/** Strict: a misspelt keyword or format is an error. References are read from the document itself. */
function schemaChecker(root: Json): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, strictTuples: false })
  formats.default(ajv)
  for (const format of ownFormats) ajv.addFormat(format, true)
  for (const keyword of ownKeywords) ajv.addKeyword({ keyword, schemaType: 'object' })
  ajv.addVocabulary(['components'])
  ajv.addSchema({ $id: 'document', components: root.components })
  return ajv
}

test('the document is valid OpenAPI 3.1', async () => {
  assert.match(document.openapi, /^3\.1\./)
  const { valid, errors } = await validate(plain(document))
  assert.deepEqual(errors, [])
  assert.equal(valid, true)
})

test('the validator refuses a document without a title, and a reply without a description', async () => {
  const untitled = plain(document)
  delete untitled.info.title
  assert.equal((await validate(untitled)).valid, false)
  const undescribed = plain(document)
  delete undescribed.paths['/v1/tenants'].get.responses['200'].description
  assert.equal((await validate(undescribed)).valid, false)
})

test('every route is in the document, and nothing else is', () => {
  const registered = documentedRoutes.map((route) => `${route.method} ${route.path}`)
  assert.equal(new Set(registered).size, registered.length, 'a route is registered twice')
  assert.deepEqual(operations.map(({ name }) => name).sort(), registered.sort())
})

test('the endpoints of the interface are there, with their success statuses', () => {
  const missing = Object.keys(interfaceEndpoints).filter((name) => !operations.some((one) => one.name === name))
  assert.deepEqual(missing, [])
  for (const { name, operation } of operations) {
    const expected = interfaceEndpoints[name]
    const statuses = Object.keys(operation.responses).filter((status) => status.startsWith('2'))
    if (expected !== undefined) assert.deepEqual(statuses, expected, name)
  }
})

test('every operation has an id of its own, a summary and one known tag', () => {
  const ids = operations.map(({ operation }) => operation.operationId)
  assert.equal(new Set(ids).size, ids.length)
  const tags = document.tags.map((tag: Json) => tag.name)
  for (const { name, operation } of operations) {
    assert.match(operation.operationId, /^[a-z][A-Za-z0-9]+$/, name)
    assert.match(operation.summary, /^[A-Z].*[^.]$/, name)
    assert.equal(operation.tags.length, 1, name)
    assert.ok(tags.includes(operation.tags[0]), name)
  }
})

test('every operation documents its success with a schema unless it is empty, and its errors', () => {
  for (const { name, operation } of operations) {
    const replies = Object.entries<Json>(operation.responses)
    assert.ok(
      replies.some(([status]) => status.startsWith('2')),
      name,
    )
    for (const [status, reply] of replies) {
      const schema = reply.content?.['application/json']?.schema
      assert.ok(reply.description.length > 0, `${name} ${status}`)
      if (status === '204') assert.equal(reply.content, undefined, name)
      else if (isDocument(reply)) assert.equal(schema, undefined, name)
      else if (status.startsWith('2'))
        assert.ok(schema !== undefined && Object.keys(schema).length > 0, `${name} ${status}`)
      else assert.deepEqual(schema, { $ref: '#/components/schemas/Error' }, `${name} ${status}`)
    }
    for (const status of ['400', '401', '403', '422', '429', '500', '503'])
      assert.ok(status in operation.responses, name)
  }
})

/** A mail, a page, lines of JSON: their media type says what they are. */
const isDocument = ({ content = {} }: Json): boolean =>
  Object.keys(content).some((type) =>
    /^(message\/rfc822|text\/html|application\/x-ndjson|text\/event-stream)(;|$)/.test(type),
  )

test('the parameters of a path are the ones its operation declares, each with a schema', () => {
  for (const { name, operation } of operations) {
    const inPath = [...name.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
    const declared = operation.parameters.filter((parameter: Json) => parameter.in === 'path')
    assert.deepEqual(
      declared.map((parameter: Json) => parameter.name),
      inPath,
      name,
    )
    for (const parameter of operation.parameters)
      assert.ok(Object.keys(parameter.schema).length > 0, `${name} ${parameter.name}`)
  }
})

test('every reference resolves', () => {
  assert.deepEqual(deadReferences(document), [])
  assert.deepEqual(deadReferences({ a: { $ref: '#/b' }, c: { $ref: '#/a' } }), ['#/b'])
})

test('no two different schemas share a title', () => {
  const schemas = documentedRoutes.flatMap((route) => [
    ...[route.params, route.query, route.shownBody ?? route.body],
    ...Object.values(route.replies),
  ])
  assert.deepEqual(sharedTitles(schemas), [])
  const [one, other] = [{ title: 'A', type: 'string' }, { items: { title: 'A', type: 'number' } }]
  assert.deepEqual(sharedTitles([one, one]), [])
  assert.deepEqual(sharedTitles([one, other]), ['A'])
})

test('titles are names that a generated client can use', () => {
  for (const title of Object.keys(document.components.schemas)) assert.match(title, /^[A-Z][A-Za-z0-9]*$/)
})

test('every schema of the document is one', () => {
  const ajv = schemaChecker(document)
  for (const title of Object.keys(document.components.schemas))
    ajv.compile({ $ref: `document#/components/schemas/${title}` })
  for (const { operation } of operations) for (const { schema } of operation.parameters) ajv.compile(schema)
  assert.throws(() => ajv.compile({ type: 'string', maxLenght: 5 }), /unknown keyword/)
  assert.throws(() => ajv.compile({ 'x-step': {} }), /unknown keyword/)
  assert.throws(() => ajv.compile({ type: 'text' }))
  assert.throws(() => ajv.compile({ type: 'string', format: 'datetime' }), /unknown format/)
})

test('every body has a title and examples, and every example fits its schema', () => {
  const ajv = schemaChecker(document)
  for (const { name, operation } of operations) {
    if (operation.requestBody === undefined) continue
    const { $ref } = operation.requestBody.content['application/json'].schema
    assert.ok(typeof $ref === 'string', `${name}: the schema of the body has no title`)
    assert.ok(resolve(document, $ref).examples?.length > 0, `${name}: the schema of the body has no examples`)
  }
  for (const [title, schema] of Object.entries<Json>(document.components.schemas)) {
    const fits = ajv.compile({ $ref: `document#/components/schemas/${title}` })
    for (const example of schema.examples ?? []) assert.ok(fits(example), `${title}: ${ajv.errorsText(fits.errors)}`)
  }
  assert.equal(ajv.compile({ $ref: 'document#/components/schemas/CreateTenant' })({ identifier: 5 }), false)
})

let app: TestApp
before(async () => {
  app = await createTestApp({ docs: 'on' })
})
after(() => app.close())

function assertSecurityHeaders(headers: Record<string, unknown>): void {
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.equal(headers['x-frame-options'], 'DENY')
  assert.equal(headers['referrer-policy'], 'no-referrer')
  assert.match(String(headers['strict-transport-security']), /max-age=\d+/)
  assert.match(String(headers['content-security-policy']), /^default-src '(none|self)'/)
  assert.ok(headers['x-request-id'])
}

test('the document is served without a key, as it is generated', async () => {
  const reply = await app.call('GET', '/openapi.json', { key: null })
  assert.equal(reply.status, 200)
  assert.match(String(reply.headers['content-type']), /^application\/json/)
  assert.deepEqual(reply.body, document)
  assertSecurityHeaders(reply.headers)
})

test('the reference page is served without a key and fetches nothing from elsewhere', async () => {
  const page = await app.call('GET', '/docs/', { key: null })
  assert.equal(page.status, 200)
  assert.match(String(page.headers['content-type']), /^text\/html/)
  assertSecurityHeaders(page.headers)
  const sources = [...page.text.matchAll(/<(?:script|link|img|iframe)\b[^>]*?(?:src|href)="([^"]*)"/g)].map(
    (match) => match[1] ?? '',
  )
  assert.ok(sources.includes('js/scalar.js'))
  for (const source of sources.filter((one) => one !== 'data:,')) {
    assert.doesNotMatch(source, /^(?:[a-z]+:)?\/\//i, 'a foreign host')
    const script = await app.call('GET', new URL(source, 'http://localhost/docs/').pathname, { key: null })
    assert.equal(script.status, 200, source)
    assertSecurityHeaders(script.headers)
  }
  const policy = String(page.headers['content-security-policy'])
  assert.match(policy, /script-src 'self'(?: 'sha256-[\w+/]{43}=')+;/)
  assert.match(policy, /connect-src 'self';/)
})

test('the page is found without its last slash', async () => {
  const reply = await app.call('GET', '/docs', { key: null })
  assert.equal(reply.status, 301)
  assert.equal(new URL(String(reply.headers['location']), 'http://localhost/docs').pathname, '/docs/')
})

test('the reference is served whatever the Host header says', async () => {
  for (const host of ['[::::', 'a b', '%%%', '"><script>', '']) {
    for (const path of ['/docs', '/docs/', '/docs/js/scalar.js', '/openapi.json']) {
      const reply = await app.call('GET', path, { key: null, headers: { host } })
      assert.ok(reply.status < 400, `${path} ${JSON.stringify(host)} ${reply.status}`)
      assert.ok(!reply.text.includes('"><script>'))
    }
  }
  const policies = await Promise.all([1, 2].map(() => app.call('GET', '/docs/', { key: null })))
  const [one, two] = policies.map(
    ({ headers }) => /'nonce-([^']+)'/.exec(String(headers['content-security-policy']))?.[1],
  )
  assert.ok(one !== undefined && one !== two, 'a nonce is used once')
})

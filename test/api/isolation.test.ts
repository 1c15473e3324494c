// Every route of the OpenAPI document, called with another environment's ids in every position: nothing is found, nothing changes.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { resolve as absolutePath, join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Operation, Schema } from '../../fuzz/document.ts'
import { readDocument } from '../../fuzz/document.ts'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { hmac } from '../support/inbox-scene.ts'
import { projectRoot } from '../support/project-root.ts'
import type { Furnished } from '../support/two-environments.ts'
import { contentMark, furnish, stateOf } from '../support/two-environments.ts'

let app: TestApp
let ours: Furnished
let theirs: Furnished
let operations: readonly Operation[]
let resolve: (schema: Schema) => Schema
before(async () => {
  app = await createTestApp({ docs: 'on' })
  // An account that is checked is refused by its provider.
  app.world.onFetch = () => ({ status: 401, headers: new Headers(), body: '{}' })
  ours = await furnish(app, 'ours-', app.developmentKey, 'Development')
  theirs = await furnish(app, 'theirs-', app.productionKey, 'Production')
  const document = readDocument((await app.call('GET', '/openapi.json')).text)
  // Reads first, before anything is written under the others' names; what deletes comes last.
  const order = (one: Operation): number => ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].indexOf(one.method)
  // A stream has no id in it, and no end. Users belong to the organization, and no key opens them: users.test.ts has both.
  const isOfKeys = ({ isStream, path }: Operation): boolean => !isStream && !path.startsWith('/v1/users')
  operations = document.operations.filter(isOfKeys).sort((a, b) => order(a) - order(b))
  resolve = document.resolve
})
after(() => app.close())

/** What kind of id a parameter or a member takes, by its name and the path it belongs to; the first that fits. */
const kinds: readonly (readonly [RegExp, string])[] = [
  [/^\/v1\/inbox\/notifications.* notificationIds?$/, 'inboxNotification'],
  [/subscribers\/\{subscriberId\}\/notifications.* notificationId$/, 'inboxNotification'],
  [/^\/v1\/outbox.* messageId$/, 'outbox'],
  [/^\/v1\/notification-groups\/\{id\} id$|notificationGroupId$/, 'group'],
  [/^\/v2\/contexts.* id$|contextKeys?$| search$/, 'context'],
  [
    /(inbox\/(topics|subscriptions).*|\{topicKey\}\/subscriptions\/\{identifier\}) identifier$|subscriptionIdentifier$/,
    'subscription',
  ],
  [/(after|before|next|pin)$/, 'cursor'],
  [/keyId$/, 'apiKey'],
  [/variableKey$|environment-variables key$/, 'variable'],
  [/endpointId$/, 'webhookEndpoint'],
  [/deliveryId$/, 'webhookDelivery'],
  [/^\/v1\/(webhook-endpoints|configuration).* workflows$/, 'workflow'],
  [/\/subscriptions.* preferences$/, 'workflow'],
  [/subscriptionIdentifier$/, 'subscription'],
  [/\{subscriberId\}\/subscriptions key$/, 'topic'],
  [/^\/v1\/environments parentId$/, 'environment'],
  [/streamId$/, 'auditStream'],
  [/[eE]nvironmentId$|applicationIdentifier$/, 'environment'],
  [/ address(Prefix)?$/, 'address'],
  [/emails?$|recipient$/, 'email'],
  [/tenants?(Id)?$|\/v1\/tenants.* identifier$/, 'tenant'],
  [/overrideId$/, 'override'],
  [/[sS]ubscribers?(Ids?)?$|(to|actor)$/, 'subscriber'],
  [/[tT]opic(Key)?$|topics.* key$/, 'topic'],
  [/[wW]orkflow(Id)?$|templates$|trigger.* name$|simulate.* name$|resourceId$/, 'workflow'],
  [/step(Id)?s?$|_parentId$| _id$|uuid$/i, 'step'],
  [/layout(Id|Identifier)?$/, 'layout'],
  [/integration(Id|Identifier)?s?$/i, 'integration'],
  [/transactionId$/, 'transaction'],
  [/notificationIds?$/, 'notification'],
  [/messageIds?$/, 'message'],
  [/feed(Id|Identifier)$/, 'feed'],
  [/retractionId$/, 'retraction'],
  [/redriveId$/, 'redrive'],
  [/erasureId$/, 'erasure'],
  [/buriedId$/, 'buried'],
]

const kindOf = (path: string, name: string): string | undefined =>
  kinds.find(([pattern]) => pattern.test(`${path} ${name}`))?.[1]

/** Path parameters that name no row of an environment. */
const plain: Readonly<Record<string, string>> = {
  providerId: 'slack',
  actionType: 'primary',
  resourceType: 'workflow',
  type: 'workspace',
  channel: 'email',
  locale: 'fr',
  seq: '1',
  version: '1',
}

/** What a read needs beyond its path. */
const neededQueries: readonly (readonly [RegExp, string])[] = [
  [/\{subscriberId\}.*\/why$/, '?workflow=theirs-workflow'],
  [/\{subscriberId\}\/notifications\/count$/, '?filters=[]'],
]

interface Attempt {
  readonly operation: Operation
  /** Where the foreign id stands. */
  readonly position: string
  readonly path: string
  readonly body?: Json
}

const parametersIn = (operation: Operation, place: string) => operation.parameters.filter((one) => one.in === place)

/** The path with foreign ids in the named places, and ours in the others. */
function pathWith(operation: Operation, foreign: ReadonlySet<string>, pick = 0): string {
  return operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const type = operation.path.includes('/actions/{type}') ? 'primary' : plain[name]
    const kind = kindOf(operation.path, name)
    if (kind === undefined) return type ?? assert.fail(`${operation.path}: what is ${name}?`)
    const all = (foreign.has(name) ? theirs : ours).ids[kind] ?? []
    return encodeURIComponent(all[pick % all.length] ?? assert.fail(kind))
  })
}

function attemptsOf(operation: Operation): Attempt[] {
  const example = exampleOf(operation)
  const names = parametersIn(operation, 'path')
    .map(({ name }) => name)
    .filter((name) => kindOf(operation.path, name) !== undefined)
  const sets = [...names.map((name) => [name]), ...(names.length > 1 ? [names] : [])]
  const inPath = sets.flatMap((set) =>
    [0, 1].map((pick) => ({
      operation,
      position: `path ${set}`,
      path: pathWith(operation, new Set(set), pick),
      body: example,
    })),
  )
  const own = pathWith(operation, new Set())
  const inQuery = parametersIn(operation, 'query').flatMap(({ name, schema }) =>
    idsFor(operation, name, schema).map((id) => ({
      operation,
      position: `query ${name}`,
      path: `${own}?${name}=${encodeURIComponent(id)}`,
      body: example,
    })),
  )
  const inBody = membersOf(operation.body).flatMap(({ at, name }) =>
    idsFor(operation, name, { type: 'string' }).map((id) => ({
      operation,
      position: `body ${at.join('.')}`,
      path: own,
      body: placed(example, at, id),
    })),
  )
  const bare =
    inPath.length + inQuery.length + inBody.length === 0
      ? [{ operation, position: 'none', path: own, body: example }]
      : []
  return [...inPath, ...inQuery, ...inBody, ...bare]
}

/** Foreign ids for a place that takes a text: those of its kind, or one of each. */
function idsFor({ path }: Operation, name: string, given: Schema): readonly string[] {
  const schema = resolve(given)
  if (schema.enum !== undefined || ['boolean', 'integer', 'number'].includes(schema.type)) return []
  const kind = kindOf(path, name)
  if (kind !== undefined) return theirs.ids[kind] ?? []
  return /name|text|query|search|title|content|description|format|zone|from|to$|At$/i.test(name) ? [searchedFor] : []
}

interface Member {
  readonly at: readonly string[]
  readonly name: string
}

/** Every member of a body that takes a text, through lists and objects. */
function membersOf(given: Schema, at: readonly string[] = [], seen: readonly Schema[] = []): Member[] {
  const schema = resolve(given)
  if (schema === undefined || seen.includes(schema) || at.length > 6) return []
  const within = [...seen, schema]
  const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((one: Schema) =>
    membersOf(one, at, within),
  )
  const members = Object.entries<Schema>(schema.properties ?? {}).flatMap(([name, one]) =>
    membersOf(one, [...at, name], within),
  )
  const items = schema.items === undefined ? [] : membersOf(schema.items, [...at, '0'], within)
  const takesText = schema.enum === undefined && (schema.type === undefined || [schema.type].flat().includes('string'))
  const name = at.findLast((part) => part !== '0')
  return [
    ...(takesText && name !== undefined && choices.length === 0 ? [{ at, name }] : []),
    ...choices,
    ...members,
    ...items,
  ]
}

function placed(value: Json, [first, ...rest]: readonly string[], id: string): Json {
  if (first === undefined) return id
  if (first === '0') return [placed(Array.isArray(value) ? value[0] : undefined, rest, id)]
  const object = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  return { ...object, [first]: placed(object[first], rest, id) }
}

/** A body that fits, with our own ids in it; the document has an example of each. */
function exampleOf(operation: Operation): Json {
  if (operation.body === undefined) return undefined
  const schema = resolve(operation.body)
  const example = schema.examples?.[0] ?? {}
  const own: Readonly<Record<string, Json>> = {
    '/v1/events/trigger': { name: 'ours-workflow', to: 'ours-ada', payload: { a: 1 } },
    '/v1/events/trigger/broadcast': { name: 'ours-workflow', payload: { a: 1 } },
    '/v1/events/trigger/bulk': { events: [{ name: 'ours-workflow', to: 'ours-ada' }] },
    '/v1/events/simulate': { name: 'ours-workflow', to: 'ours-ada' },
  }
  return own[operation.path] ?? example
}

async function call({ operation, path, body }: Attempt, caller: 'ours' | 'theirs'): Promise<TestReply> {
  const { session } = caller === 'ours' ? ours : theirs
  const key = caller === 'ours' ? app.developmentKey : app.productionKey
  const bearer = { authorization: `Bearer ${session}` }
  return app.call(operation.method, path, {
    key: operation.access === 'key' ? key : null,
    headers: operation.access === 'inbox' ? bearer : {},
    ...(body === undefined ? {} : { body }),
  })
}

/** Most of the mark of their content: who searches for it must not find it, and who stores it has not stored the mark. */
const searchedFor = contentMark('theirs-').slice(1, -1)
const madeId = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g
/** What was sent to be stored: it may be shown later, as ours. */
let stored = ''

/** Whatever of theirs an answer holds that the request did not bring. */
function leaked({ operation, path, body }: Attempt, reply: TestReply): string[] {
  const asked = `${decodeURIComponent(path)} ${JSON.stringify(body) ?? ''}`
  if (operation.method !== 'GET') stored += asked
  const made = [...reply.text.matchAll(madeId)].map(([id]) => id).filter((id) => theirs.madeIds.has(id))
  // That there is another environment is no secret within the organization.
  const known = (text: string): boolean =>
    text === theirs.environmentId || ours.madeIds.has(text) || asked.includes(text) || stored.includes(text)
  const content = reply.text.includes(contentMark('theirs-')) ? [contentMark('theirs-')] : []
  return [...content, ...made.filter((id) => !known(id))]
}

/** A list of nothing, a count of nothing, or no body at all. */
function isEmpty(body: Json): boolean {
  if (body === undefined || body === null || body === false || body === 0) return true
  if (Array.isArray(body)) return body.length === 0
  return typeof body === 'object' && 'data' in body && isEmpty(body.data)
}

/** Something is badly wrong: the rest would only repeat it. */
const wrongMax = 40
/** Looking at every row of theirs costs as much as some calls. */
const attemptsPerLook = 50

/** Names the caller chooses: a call under one that is taken elsewhere makes the caller's own. */
const ownNames: readonly string[] = [
  'POST /v2/topics/{topicKey}/subscriptions, path topicKey',
  'POST /v1/topics/{topicKey}/subscribers, path topicKey',
  'POST /v1/inbox/topics/{topicKey}/subscriptions, path topicKey',
  // Also of one who is unknown: what others still hold of them goes.
  'POST /v1/subscribers/{subscriberId}/erase, path subscriberId',
]

/** What came of it, for docs/security-report.md. */
const figures = { calls: 0, positions: 0, operations: 0, found: 0, changed: 0 }

/** Whether the rows of theirs are as they were; which tables are not, otherwise. */
async function changedTables(before: ReadonlyMap<string, string>): Promise<string[]> {
  const now = await stateOf(app, theirs.environmentId)
  return [...now].flatMap(([table, state]) => (before.get(table) === state ? [] : [table]))
}

/** What is wrong with the answer to it; undefined when nothing is. */
async function breach(attempt: Attempt): Promise<string | undefined> {
  const { operation, position, path } = attempt
  const name = `${operation.method} ${operation.path}, ${position}`
  const reply = await call(attempt, 'ours')
  const said = `${name}: ${path} ${reply.status} ${reply.text.slice(0, 200)}`
  if (reply.status >= 500 || (reply.status === 401 && operation.access !== 'open')) return said
  const isFound = position.startsWith('path') && reply.status < 400 && !isEmpty(reply.body)
  const [held] = leaked(attempt, reply)
  if (held === undefined && (!isFound || ownNames.includes(name))) return undefined
  figures.found += 1
  return `${held ?? 'something'} found by ${said}`
}

test('another environment’s ids are unknown in every position of every route, and nothing of it changes', async (t) => {
  const before = await stateOf(app, theirs.environmentId)
  const wrong: string[] = []
  const all = operations.flatMap(attemptsOf)
  // What is written under their names is ours from then on: bodies come last, and so do the paths that create the topic they
  // name.
  const isBody = ({ position, operation }: Attempt): boolean =>
    position.startsWith('body') ||
    (operation.method === 'POST' && /\/topics\/\{topicKey\}\/subscri(?:ptions|bers)$/.test(operation.path))
  const inOrder = [...all.filter((one) => !isBody(one)), ...all.filter(isBody)]
  for (const [at, attempt] of inOrder.entries()) {
    wrong.push(...[await breach(attempt)].flatMap((one) => one ?? []))
    if (at % attemptsPerLook > 0 && at < inOrder.length - 1) continue
    const changed = await changedTables(before)
    figures.changed += changed.length
    const { method, path } = attempt.operation
    wrong.push(...changed.map((table) => `${table} changed by one of those before ${method} ${path}`))
    if (wrong.length > wrongMax) break
  }
  // What was accepted runs as well.
  await app.pipeline.advance(60_000, 10_000)
  wrong.push(...(await changedTables(before)).map((table) => `${table} changed by the worker`))
  const positions = new Set(all.map(({ operation, position }) => `${operation.method} ${operation.path} ${position}`))
  Object.assign(figures, { calls: all.length, positions: positions.size, operations: operations.length })
  t.diagnostic(JSON.stringify(figures))
  assert.deepEqual(wrong, [])
  assert.ok(operations.length > 190 && positions.size > 500)
})

test('the same ids are known to their own environment, so that "unknown" proves something', async (t) => {
  const reads = operations.filter(({ method, path }) => method === 'GET' && path.includes('{'))
  const unknown: string[] = []
  for (const operation of reads) {
    const names = new Set(parametersIn(operation, 'path').map(({ name }) => name))
    const query = neededQueries.find(([pattern]) => pattern.test(operation.path))?.[1] ?? ''
    const reply = await call({ operation, position: 'own', path: `${pathWith(operation, names)}${query}` }, 'theirs')
    if (reply.status >= 300) unknown.push(`${operation.path}: ${reply.status} ${reply.text.slice(0, 150)}`)
  }
  t.diagnostic(`${reads.length} reads`)
  assert.deepEqual(unknown, [])
  // For docs/security-report.md.
  const folder = process.env['POSTHORN_SECURITY_RESULTS']
  if (folder === undefined) return
  // Where npm run fuzz writes its own: below the project, unless the path is absolute.
  const results = absolutePath(projectRoot, folder)
  mkdirSync(results, { recursive: true })
  writeFileSync(join(results, 'isolation.json'), JSON.stringify({ ...figures, reads: reads.length }))
})

test('a session of another environment is not opened by a hash that our key made', async () => {
  const body = {
    applicationIdentifier: theirs.ids['environment']?.[1],
    subscriber: { subscriberId: 'theirs-ada' },
    subscriberHash: hmac(app.developmentKey, 'theirs-ada'),
  }
  const reply = await app.call('POST', '/v1/inbox/session', { key: null, body })
  // Production asks for the hash.
  assert.ok(reply.status >= 400, reply.text)
})

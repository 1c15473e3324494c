// Secrets planted in the configuration: of accounts, endpoints, streams, variables, keys and workflows through their versions.
// No key without the scope `full` finds one in an answer; the log, the audit log and what is sent elsewhere hold none at all.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { scopes } from '../../src/domain/environment.ts'
import { routes } from '../../src/http/registry.ts'
import { sendAudit } from '../../src/manage/operate/send-audit.ts'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { worldClock } from '../support/pipeline.ts'

let app: TestApp
let scene: FlowScene
let reader: string
/** What stands for each parameter of a path. */
const known: Record<string, string> = {}
/** Shown once, when they were made. */
const onceShown: string[] = []
/** What left for each host, in clear: bodies, not the headers that carry a credential. */
const left: string[] = []

const asking = (secret: string): Json => ({
  isNegated: false,
  type: 'GROUP',
  value: 'AND',
  children: [
    {
      on: 'webhook',
      webhookUrl: `https://ask.example.com/?k=${secret}`,
      field: 'ok',
      value: 'yes',
      operator: 'EQUAL',
    },
  ],
})

const stepsWith = (version: number): Json[] => [
  {
    name: 'Call',
    uuid: 'call',
    template: { type: 'custom' },
    metadata: {
      type: 'http',
      url: `https://api.example.com/in?token=hush-query-${version}`,
      headers: { Authorization: `Bearer hush-header-${version}`, 'X-Key': '{{ env.PLANTED }}' },
    },
    replyCallback: { active: true, url: `https://replies.example.com/?k=hush-reply-${version}` },
  },
  {
    name: 'Mail',
    uuid: 'mail',
    template: { type: 'email', subject: 'Hello', contentType: 'customHtml', content: '<p>there</p>' },
    filters: [asking(`hush-condition-${version}`)],
  },
]

before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  app.world.onFetch = async (request) => {
    const { host } = new URL(request.url)
    left.push(`${host} ${await request.clone().text()}`)
    // A provider that repeats what it was sent, as some do.
    if (host === 'api.sendgrid.com') return refusalOf(`bad key ${request.headers.get('authorization')}`)
    return { status: 200, headers: new Headers(), body: '{"ok":"yes"}' }
  }
  const { _id } = await scene.expect(200, 'GET', '/v1/environments/me')
  await scene.expect(200, 'POST', '/v1/environment-variables', {
    key: 'PLANTED',
    isSecret: true,
    values: [{ _environmentId: _id, value: 'hush-variable' }],
  })
  const stream = await scene.expect(201, 'POST', '/v1/audit/streams', {
    url: 'https://siem.example.com/in?token=hush-stream',
  })
  const endpoint = await scene.expect(201, 'POST', '/v1/webhook-endpoints', {
    url: 'https://hooks.example.com/in?token=hush-endpoint',
  })
  const delivery = await scene.expect(201, 'POST', `/v1/webhook-endpoints/${endpoint._id}/test`)
  const account = { apiKey: 'hush-account', from: 'shop@example.com', senderName: 'Shop' }
  const integration = await scene.expect(201, 'POST', '/v1/integrations', {
    providerId: 'sendgrid',
    channel: 'email',
    active: true,
    credentials: account,
  })
  await scene.expect(200, 'PUT', `/v1/integrations/${integration._id}`, {
    credentials: { ...account, apiKey: 'hush-account-next' },
  })
  await scene.expect(200, 'POST', `/v1/integrations/${integration._id}/set-primary`)
  const workflow = await scene.created(stepsWith(1))
  await scene.expect(200, 'PUT', `/v1/workflows/${workflow._id}`, { name: workflow.name, steps: stepsWith(2) })
  await scene.expect(200, 'PUT', `/v1/workflows/${workflow._id}`, { name: workflow.name, steps: stepsWith(3) })
  await scene.expect(201, 'POST', '/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com' })
  const notification = await scene.run(workflow.triggers[0].identifier, 'ada')
  const other = await scene.expect(201, 'POST', '/v1/environments/api-keys', { name: 'other', scopes: ['full'] })
  const held = scopes.filter((scope) => scope !== 'full')
  const made = await scene.expect(201, 'POST', '/v1/environments/api-keys', { name: 'reader', scopes: held })
  reader = made.key
  onceShown.push(endpoint.secret, other.key, reader, ...[stream.secret].filter((one) => typeof one === 'string'))
  Object.assign(known, {
    subscriberId: 'ada',
    workflowId: workflow._id,
    stepId: 'call',
    version: '1',
    endpointId: endpoint._id,
    deliveryId: delivery._id,
    integrationId: integration._id,
    variableKey: 'PLANTED',
    notificationId: notification._id,
    transactionId: notification.transactionId,
    environmentId: _id,
    streamId: stream._id,
    seq: '1',
  })
  await app.pipeline.advance(60_000, 10_000)
  await sendAudit(app.database.db, app.world, worldClock(app.world))
})
after(() => app.close())

const refusalOf = (message: string) => ({
  status: 401,
  headers: new Headers(),
  body: JSON.stringify({ errors: [{ message }] }),
})

/** Those that a text holds. */
function secretsIn(text: string): string[] {
  const signing = onceShown.filter((secret) => text.includes(secret))
  return [...new Set([...(text.match(/hush-[a-z]+(?:-\w+)?/g) ?? []), ...signing])].sort()
}
const wholeOf = ({ text, headers }: TestReply): string => `${text} ${JSON.stringify(headers)}`

const reads = () => routes.filter(({ method, path }) => method === 'GET' && !path.endsWith('/stream'))
const pathOf = (path: string): string => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => known[name] ?? 'none')
  return filled === '/v1/outbox/wait' ? `${filled}?timeout=1ms` : filled
}

test('a key that may do everything but what is for full keys finds none of them in any read', async () => {
  let answered = 0
  for (const route of reads()) {
    const reply = await app.call('GET', pathOf(route.path), { key: reader })
    assert.ok(reply.status < 500, `${reply.status} ${route.path}`)
    if (reply.status === 200) answered += 1
    assert.deepEqual(secretsIn(wholeOf(reply)), [], route.path)
  }
  assert.ok(answered > 60, `${answered} answered`)
})

test('versions, their differences and their files show it none, whichever are compared', async () => {
  const base = `/v1/workflows/${known['workflowId']}/versions`
  for (const version of ['1', '2', '3', 'current']) {
    for (const path of [`${base}/${version}/diff`, `${base}/${version}/diff?to=1`, `${base}/${version}/files`]) {
      const reply = await app.call('GET', path, { key: reader })
      if (version !== 'current') assert.equal(reply.status, 200, `${path} ${reply.text}`)
      assert.deepEqual(secretsIn(wholeOf(reply)), [], path)
    }
  }
  // The test can fail: a full key sees them.
  const seen = await app.call('GET', `${base}/1/files`)
  assert.ok(secretsIn(seen.text).includes('hush-header-1'), seen.text)
})

test('nor do previews, simulations, imports that are tried, restored versions and sentences of why', async () => {
  const { triggers, workflowId, name } = (await app.call('GET', `/v1/workflows/${known['workflowId']}`)).body
  const identifier = workflowId ?? triggers[0].identifier
  const document = { workflowId: identifier, name, steps: [{ template: { type: 'in_app', content: 'Other' } }] }
  const at = `/v1/workflows/${known['workflowId']}`
  const calls: readonly (readonly [string, string, Json])[] = [
    ['POST', '/v1/events/simulate', { name: identifier, to: 'ada' }],
    ['POST', `/v2/workflows/${known['workflowId']}/step/call/preview`, {}],
    ['POST', `${at}/steps/call/preview`, {}],
    ['POST', '/v1/configuration', { workflows: [document], dryRun: true, lines: true }],
    ['GET', `/v1/subscribers/ada/why?workflow=${identifier}`, undefined],
    ['GET', `/v1/notifications/${known['notificationId']}/why`, undefined],
    ['POST', `${at}/versions/1/restore`, {}],
    ['PATCH', `${at}/status`, { active: true }],
  ]
  const statuses: number[] = []
  for (const [method, path, body] of calls) {
    const reply = await app.call(method, path, { key: reader, ...(body === undefined ? {} : { body }) })
    statuses.push(reply.status)
    assert.deepEqual(secretsIn(wholeOf(reply)), [], `${method} ${path}`)
  }
  assert.ok(statuses.filter((status) => status < 300).length >= 5, `${statuses}`)
})

test('what is wrong with a request is said without its secrets, in the body and in the warnings', async () => {
  const calls: readonly (readonly [string, Json])[] = [
    ['/v1/integrations', { providerId: 'sendgrid', channel: 'email', credentials: { apiKey: ['hush-list'] } }],
    ['/v1/integrations', { providerId: 'sendgrid', channel: 'email', credentials: { unknown: 'hush-unknown' } }],
    ['/v1/integrations', { providerId: 'sendgrid', channel: 'none', password: 'hush-password' }],
    ['/v1/webhook-endpoints', { url: 'ftp://hooks.example.com/?token=hush-scheme', secret: 'hush-own' }],
    ['/v1/audit/streams', { url: 'not an address hush-address' }],
    ['/v1/environment-variables', { key: 'no name', isSecret: true, values: [{ value: 'hush-value' }] }],
    ['/v1/environments/api-keys', { name: 'x', scopes: ['hush-scope'], key: 'hush-key' }],
    ['/v1/environments/api-keys', { name: 'x', scopes: 'hush-scopes' }],
    ['/v1/subscribers', { subscriberId: 'x', channels: [{ providerId: 'fcm', credentials: 'hush-channel' }] }],
    ['/v1/users/session', { token: ['hush-token'] }],
  ]
  for (const [path, body] of calls) {
    const reply = await app.call('POST', path, { body })
    assert.ok(reply.status < 500, reply.text)
    assert.deepEqual(secretsIn(wholeOf(reply)), [], `${path} ${reply.status} ${reply.text}`)
  }
})

/** Where a full key reads what it saved, as the interface says. */
const inClear =
  /^\/v[12]\/(?:integrations|workflows|notification-templates|configuration|webhook-endpoints|audit\/streams|messages)/

test('a full key reads what it saved in its place, and nowhere else; what was shown once is shown to no one', async () => {
  const places = new Map<string, string[]>()
  for (const route of reads()) {
    const reply = await app.call('GET', pathOf(route.path))
    const found = secretsIn(wholeOf(reply))
    assert.ok(!found.includes('hush-variable'), route.path)
    for (const secret of [onceShown[0], onceShown[1], reader]) assert.ok(!found.includes(String(secret)), route.path)
    if (found.length > 0) places.set(route.path, found)
  }
  assert.deepEqual(
    [...places].filter(([path]) => !inClear.test(path)),
    [],
  )
  assert.ok(places.has('/v1/integrations') && places.has('/v1/workflows/{workflowId}'), [...places.keys()].join())
})

test('a session of the dashboard finds no more than its key, and its cookie says nothing', async () => {
  const headers = { 'x-posthorn-dashboard': '*', host: 'localhost:3000' }
  for (const apiKey of [reader, app.developmentKey]) {
    const opened = await app.call('POST', '/v1/dashboard/sessions', { key: null, body: { apiKey }, headers })
    assert.equal(opened.status, 201, opened.text)
    assert.ok(!wholeOf(opened).includes(apiKey))
    assert.deepEqual(secretsIn(wholeOf(opened)), [])
    const cookie = String(opened.headers['set-cookie']).split(';')[0] ?? ''
    const said = cookie.split(/[=.]/).map((part) => Buffer.from(part, 'base64').toString('latin1'))
    for (const part of said) assert.ok(!part.includes(apiKey) && !/\{|hush-/.test(part.slice(0, 8)), part)
    const own = { cookie, 'x-posthorn-dashboard': opened.body.environment._id }
    let answered = 0
    for (const route of reads()) {
      const reply = await app.call('GET', pathOf(route.path), { key: null, headers: own })
      assert.ok(reply.status < 500, `${reply.status} ${route.path}`)
      if (reply.status === 200) answered += 1
      assert.ok(!wholeOf(reply).includes(apiKey), route.path)
      assert.ok(!wholeOf(reply).includes(cookie.slice(cookie.indexOf('=') + 1)), route.path)
      const found = secretsIn(wholeOf(reply))
      if (apiKey === reader) assert.deepEqual(found, [], route.path)
      else assert.ok(found.length === 0 || inClear.test(route.path), `${route.path}: ${found}`)
    }
    assert.ok(answered > 60, `${answered} answered`)
  }
})

test('the audit log holds none of them, and neither does what is streamed or sent as webhooks', async () => {
  const log = await app.call('GET', '/v1/audit?limit=100')
  assert.ok(log.body.data.length > 10)
  assert.deepEqual(secretsIn(log.text), [])
  for (const host of ['siem.example.com', 'hooks.example.com']) {
    const bodies = left.filter((one) => one.startsWith(host))
    assert.ok(bodies.length > 0, `nothing went to ${host}`)
    assert.deepEqual(secretsIn(bodies.join('\n')), [], host)
  }
})

test('the log holds none of them', () => {
  assert.deepEqual(secretsIn(JSON.stringify(app.world.logged)), [])
})

test('tables hold in clear only what workflows say', async () => {
  const { db } = app.database
  const tables = await db.rows<{ name: string }>(sql`
    select c.relname as name from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'`)
  const found = new Map<string, string[]>()
  for (const { name } of tables) {
    const rows = await db.rows<{ row: string }>({ text: `select t::text as row from ${name} t`, values: [] })
    const secrets = secretsIn(rows.map(({ row }) => row).join('\n'))
    if (secrets.length > 0) found.set(name, secrets)
  }
  const ofWorkflows = /^hush-(?:query|header|reply|condition)-\d$/
  for (const [name, secrets] of found)
    assert.deepEqual(
      secrets.filter((secret) => !ofWorkflows.test(secret)),
      [],
      name,
    )
})

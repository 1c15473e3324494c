// One of everything that an environment can hold, made over the API under a prefix of its own; the ids of it all by kind.
import assert from 'node:assert/strict'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from './app.ts'
import { hmac, identifierOf } from './inbox-scene.ts'

export interface Furnished {
  readonly environmentId: string
  /** By kind, first the one that lives longest. */
  readonly ids: Readonly<Record<string, readonly string[]>>
  /** A token of one subscriber's inbox. */
  readonly session: string
  /** Every id the service made in it. */
  readonly madeIds: ReadonlySet<string>
}

/** Stands in every text that is content, never in an id: no answer to anyone else may hold it. */
export const contentMark = (prefix: string): string => `${prefix}content`

interface Scene {
  readonly app: TestApp
  readonly key: string
  /** In every text that is content. */
  readonly said: string
  named(name: string): string
  call(method: string, path: string, body?: unknown): Promise<Json>
}

export async function furnish(app: TestApp, prefix: string, key: string, environmentName: string): Promise<Furnished> {
  const scene: Scene = {
    app,
    key,
    said: contentMark(prefix),
    named: (name) => `${prefix}${name}`,
    call: async (method, path, body) => {
      const reply = await app.call(method, path, { key, ...(body === undefined ? {} : { body }) })
      assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`)
      return reply.body
    },
  }
  const row = await app.database.db.row<{ id: string }>(
    sql`select id from environments where name = ${environmentName}`,
  )
  const environmentId = row?.id ?? ''
  const applicationIdentifier = await identifierOf(app, environmentName)
  const ids: Record<string, readonly string[]> = {
    ...(await people(scene)),
    ...(await configuration(scene)),
    ...(await runs(scene, environmentId)),
    ...(await cursors(scene)),
    environment: [environmentId, applicationIdentifier],
  }
  for (const [kind, all] of Object.entries(ids)) {
    assert.ok(
      all.every((id) => typeof id === 'string' && id !== ''),
      `${kind}: ${all}`,
    )
  }
  const subscriberId = scene.named('ada')
  const session = await app.call('POST', '/v1/inbox/session', {
    key: null,
    body: { applicationIdentifier, subscriber: { subscriberId }, subscriberHash: hmac(key, subscriberId) },
  })
  return { environmentId, ids, session: session.body.data.token, madeIds: await madeIdsOf(app, environmentId) }
}

async function people({ call, named, said }: Scene): Promise<Record<string, string[]>> {
  const person = (name: string) => ({
    subscriberId: named(name),
    email: `${named(name)}@example.com`,
    firstName: said,
    data: { note: said },
  })
  await call('POST', '/v1/subscribers/bulk', { subscribers: ['ada', 'grace', 'gone'].map(person) })
  const topic = await call('POST', '/v2/topics', { key: named('topic'), name: said })
  const place = { subscriberId: named('ada'), identifier: named('place') }
  await call('POST', `/v2/topics/${named('topic')}/subscriptions`, { subscriptions: [place] })
  const tenant = await call('POST', '/v1/tenants', { identifier: named('tenant'), name: said })
  await call('POST', '/v2/contexts', { type: 'workspace', id: named('context'), data: { note: said } })
  const address = `${named('nobody')}@example.com`
  await call('POST', '/v1/suppressions', { channel: 'email', address, note: said })
  const ada = await call('GET', `/v2/subscribers/${named('ada')}`)
  return {
    subscriber: [named('ada'), ada._id],
    email: [`${named('ada')}@example.com`],
    topic: [named('topic'), topic._id],
    subscription: [named('place')],
    tenant: [named('tenant'), tenant._id],
    context: [named('context'), `workspace:${named('context')}`],
    address: [address],
  }
}

async function configuration({ call, named, said }: Scene): Promise<Record<string, string[]>> {
  const group = await call('POST', '/v1/notification-groups', { name: said })
  const feed = await call('POST', '/v1/feeds', { name: named('feed'), identifier: named('feed') })
  const content = `<p>${said}</p>{{{body}}}`
  const layout = await call('POST', '/v1/layouts', { name: said, identifier: named('layout'), content })
  const buttons = { action: { buttons: [{ type: 'primary', content: said }] } }
  const steps = [
    { name: 'bell', uuid: named('bell'), template: { type: 'in_app', content: said, cta: buttons } },
    { name: 'letter', template: { type: 'email', contentType: 'customHtml', subject: said, content: said } },
  ]
  const definition = { name: said, workflowId: named('workflow'), active: true, description: said, steps }
  const workflow = await call('POST', '/v1/workflows', definition)
  const pair = { workflowId: workflow._id, tenantId: named('tenant') }
  const override = await call('POST', '/v1/workflow-overrides', { ...pair, active: true })
  const credentials = { apiKey: said, from: 'a@example.com' }
  const account = {
    providerId: 'sendgrid',
    channel: 'email',
    name: said,
    identifier: named('integration'),
    credentials,
  }
  const integration = await call('POST', '/v1/integrations', { ...account, active: true })
  await call('PUT', '/v1/translations/fr', { texts: { greeting: said } })
  const own = { resourceType: 'workflow', resourceId: named('workflow'), locale: 'fr' }
  await call('POST', '/v2/translations', { ...own, content: { title: said } })
  await call('PATCH', '/v1/environments/me', { configurations: { capture: true } })
  const { _id: _environmentId } = await call('GET', '/v1/environments/me')
  const key = named('variable').replaceAll('-', '_')
  await call('POST', '/v1/environment-variables', { key, values: [{ _environmentId, value: said }] })
  const apiKey = await call('POST', '/v1/environments/api-keys', { name: said, scopes: ['read'] })
  const hook = await call('POST', '/v1/webhook-endpoints', { url: `https://api.example.com/${named('hook')}` })
  const delivery = await call('POST', `/v1/webhook-endpoints/${hook._id}/test`)
  // Otherwise it would be tried again and again, and nothing of it may change.
  await call('PATCH', `/v1/webhook-endpoints/${hook._id}`, { enabled: false })
  const stream = await call('POST', '/v1/audit/streams', { url: `https://siem.example.com/${named('stream')}` })
  return {
    group: [group._id],
    feed: [feed._id, named('feed')],
    layout: [layout._id, named('layout')],
    workflow: [workflow._id, named('workflow')],
    step: [workflow.steps[0]._id, named('bell')],
    override: [override._id],
    integration: [integration._id, named('integration')],
    apiKey: [apiKey._id],
    variable: [key],
    auditStream: [stream._id],
    webhookEndpoint: [hook._id],
    webhookDelivery: [delivery._id],
  }
}

async function runs({ app, key, call, named, said }: Scene, environmentId: string): Promise<Record<string, string[]>> {
  const trigger = async (transactionId: string): Promise<Json> => {
    const about = { tenant: named('tenant'), context: { workspace: named('context') }, payload: { note: said } }
    await call('POST', '/v1/events/trigger', { name: named('workflow'), to: named('ada'), transactionId, ...about })
    await app.pipeline.work()
    const { data } = (await app.call('GET', `/v1/notifications?transactionId=${transactionId}`, { key })).body
    assert.equal(data.length, 1)
    return data[0]
  }
  const notification = await trigger(named('event'))
  await trigger(named('retracted'))
  const retraction = await call('POST', `/v1/events/${named('retracted')}/retract`)
  const filter = { workflow: named('workflow'), from: '2020-01-01T00:00:00Z' }
  const redrive = await call('POST', '/v1/redrives', { filter })
  const erasure = await call('POST', `/v1/subscribers/${named('gone')}/erase`)
  await app.pipeline.advance(120_000, 10_000)
  const now = app.world.now()
  const buriedId = app.world.newId(now)
  await app.database.db.run(sql`
    insert into tasks (environment_id, id, kind, lane, claims, state, error, created_at, buried_at)
    values (${environmentId}, ${buriedId}, 'poll', 0, 5, '{}', ${said}, ${now}, ${now})`)
  const messages = (await call('GET', '/v1/messages?limit=100')).data
  const bell = messages.find((one: Json) => one.channel === 'in_app')
  const captured = (await call('GET', '/v1/outbox')).data
  assert.ok(captured.length > 0, JSON.stringify(messages))
  return {
    transaction: [named('event')],
    notification: [notification._id],
    inboxNotification: [bell._id],
    message: [bell._id],
    outbox: [captured[0]._id],
    retraction: [retraction._id],
    redrive: [redrive._id],
    erasure: [erasure._id],
    buried: [buriedId],
  }
}

const pagedLists = ['/v2/subscribers', '/v2/contexts', '/v2/topics', '/v1/outbox', '/v1/audit', '/v1/notifications']

async function cursors({ call }: Scene): Promise<Record<string, string[]>> {
  const pages = await Promise.all(pagedLists.map((path) => call('GET', `${path}?limit=1`)))
  const found = pages.flatMap(({ next, previous }) => [next, previous]).filter((one) => typeof one === 'string')
  assert.ok(found.length >= 3)
  return { cursor: [...new Set(found)] }
}

/** Every table that belongs to environments, in one statement for one of them: what it holds, as a fingerprint. */
export async function stateOf(app: TestApp, environmentId: string): Promise<Map<string, string>> {
  const rows = await app.database.db.rows<{ table: string; state: string }>({
    text: (await environmentTables(app))
      .map(
        (table) =>
          `select '${table}' as table, coalesce(md5(string_agg(t::text, E'\\n' order by t::text)), '') as state from ${table} t where environment_id = $1`,
      )
      .join(' union all '),
    values: [environmentId],
  })
  return new Map(rows.map(({ table, state }) => [table, state]))
}

/** Rate limits and what is known of nodes are written by whoever calls, for themselves. */
async function environmentTables(app: TestApp): Promise<string[]> {
  const rows = await app.database.db.rows<{ name: string }>(sql`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'environment_id'
    where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace order by 1`)
  return rows.map(({ name }) => name)
}

async function madeIdsOf(app: TestApp, environmentId: string): Promise<Set<string>> {
  const found = new Set<string>()
  for (const table of await environmentTables(app)) {
    const rows = await app.database.db.rows<{ text: string }>({
      text: `select t::text as text from ${table} t where environment_id = $1`,
      values: [environmentId],
    })
    for (const { text } of rows)
      for (const [id] of text.matchAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g)) found.add(id)
  }
  return found
}

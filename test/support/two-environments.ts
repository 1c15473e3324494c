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

/** Stands in every text that is content, never in an id: no answer to anybody else may hold it. */
export const contentMark = (prefix: string): string => `${prefix}content`

export async function furnish(app: TestApp, prefix: string, key: string, environmentName: string): Promise<Furnished> {
  const said = contentMark(prefix)
  const call = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const reply = await app.call(method, path, { key, ...(body === undefined ? {} : { body }) })
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`)
    return reply.body?.data === undefined || Array.isArray(reply.body.data) ? reply.body : reply.body.data
  }
  const named = (name: string): string => `${prefix}${name}`
  const person = (name: string) => ({
    subscriberId: named(name),
    email: `${named(name)}@example.com`,
    firstName: said,
    data: { note: said },
  })
  await call('POST', '/v1/subscribers/bulk', { subscribers: ['ada', 'grace', 'gone'].map(person) })
  const topicKey = named('topic')
  await call('POST', '/v2/topics', { key: topicKey, name: said })
  await call('POST', `/v2/topics/${topicKey}/subscriptions`, {
    subscriptions: [{ subscriberId: named('ada'), identifier: named('place') }],
  })
  const group = await call('POST', '/v1/notification-groups', { name: said })
  const feed = await call('POST', '/v1/feeds', { name: named('feed'), identifier: named('feed') })
  const layout = await call('POST', '/v1/layouts', {
    name: said,
    identifier: named('layout'),
    content: `<p>${said}</p>{{{body}}}`,
  })
  const buttons = { action: { buttons: [{ type: 'primary', content: said }] } }
  const steps = [
    { name: 'bell', template: { type: 'in_app', content: said, cta: buttons } },
    { name: 'letter', template: { type: 'email', contentType: 'customHtml', subject: said, content: said } },
  ]
  const workflow = await call('POST', '/v1/workflows', {
    name: said,
    workflowId: named('workflow'),
    active: true,
    description: said,
    steps,
  })
  const tenant = await call('POST', '/v1/tenants', { identifier: named('tenant'), name: said })
  const override = await call('POST', '/v1/workflow-overrides', {
    workflowId: workflow._id,
    tenantId: named('tenant'),
    active: true,
  })
  await call('POST', '/v2/contexts', { type: 'workspace', id: named('context'), data: { note: said } })
  const integration = await call('POST', '/v1/integrations', {
    providerId: 'webhook-email',
    channel: 'email',
    name: said,
    identifier: named('integration'),
    active: false,
  }).catch(() =>
    call('POST', '/v1/integrations', {
      providerId: 'sendgrid',
      channel: 'email',
      name: said,
      identifier: named('integration'),
      active: false,
      credentials: { apiKey: said, from: 'a@example.com' },
    }),
  )
  await call('PUT', '/v1/translations/fr', { texts: { greeting: said } })
  await call('POST', '/v1/suppressions', { channel: 'email', address: `${named('nobody')}@example.com`, note: said })
  await call('PATCH', '/v1/environments/me', { configurations: { capture: true } })
  const apiKey = await call('POST', '/v1/environments/api-keys', { name: said, scopes: ['read'] })
  const trigger = async (transactionId: string): Promise<Json> => {
    const event = {
      name: named('workflow'),
      to: named('ada'),
      transactionId,
      payload: { note: said },
      tenant: named('tenant'),
      context: { workspace: named('context') },
    }
    await call('POST', '/v1/events/trigger', event)
    await app.pipeline.work()
    const { data } = (await app.call('GET', `/v1/notifications?transactionId=${transactionId}`, { key })).body
    assert.equal(data.length, 1)
    return data[0]
  }
  const notification = await trigger(named('event'))
  await trigger(named('retracted'))
  const retraction = await call('POST', `/v1/events/${named('retracted')}/retract`)
  const redrive = await call('POST', '/v1/redrives', {
    filter: { workflow: named('workflow'), from: '2020-01-01T00:00:00Z' },
  })
  const erasure = await call('POST', `/v1/subscribers/${named('gone')}/erase`)
  await app.pipeline.advance(120_000, 10_000)
  const { db } = app.database
  const environment = await db.row<{ id: string }>(sql`select id from environments where name = ${environmentName}`)
  const environmentId = environment?.id ?? ''
  const buriedId = app.world.newId(app.world.now())
  await db.run(sql`
    insert into tasks (environment_id, id, kind, lane, claims, state, error, created_at, buried_at)
    values (${environmentId}, ${buriedId}, 'expand_event', 'fan_out', 5, '{}', ${said}, ${app.world.now()}, ${app.world.now()})`)
  const messages = (await call('GET', '/v1/messages?limit=100')).data
  const bell = messages.find((one: Json) => one.channel === 'in_app')
  const captured = (await call('GET', '/v1/outbox')).data
  const pages = await Promise.all(
    [
      '/v2/subscribers?limit=1',
      '/v2/contexts?limit=1',
      '/v1/outbox?limit=1',
      '/v1/audit?limit=1',
      '/v2/topics?limit=1',
      '/v1/notifications?limit=1',
    ].map((path) => call('GET', path)),
  )
  const subscriber = await call('GET', `/v2/subscribers/${named('ada')}`)
  const topic = await call('GET', `/v2/topics/${topicKey}`)
  const applicationIdentifier = await identifierOf(app, environmentName)
  const session = await app.call('POST', '/v1/inbox/session', {
    key: null,
    body: {
      applicationIdentifier,
      subscriber: { subscriberId: named('ada') },
      subscriberHash: hmac(key, named('ada')),
    },
  })
  const ids: Record<string, readonly string[]> = {
    subscriber: [named('ada'), subscriber._id],
    topic: [topicKey, topic._id],
    subscription: [named('place')],
    group: [group._id],
    feed: [feed._id, named('feed')],
    layout: [layout._id, named('layout')],
    workflow: [workflow._id, named('workflow')],
    step: [workflow.steps[0]._id, 'bell'],
    tenant: [named('tenant'), tenant._id],
    override: [override._id],
    context: [named('context'), `workspace:${named('context')}`],
    integration: [integration._id, named('integration')],
    transaction: [named('event')],
    notification: [notification._id],
    inboxNotification: [bell._id],
    message: [bell._id, ...messages.map((one: Json) => one._id)].slice(0, 2),
    outbox: [captured[0]._id],
    retraction: [retraction._id],
    redrive: [redrive._id],
    erasure: [erasure._id],
    buried: [buriedId],
    address: [`${named('nobody')}@example.com`],
    email: [`${named('ada')}@example.com`],
    apiKey: [apiKey._id],
    environment: [environmentId, applicationIdentifier],
    cursor: [...new Set(pages.flatMap((page) => [page.next, page.previous]).filter((one) => typeof one === 'string'))],
  }
  for (const [kind, all] of Object.entries(ids))
    assert.ok(
      all.every((id) => typeof id === 'string' && id !== ''),
      `${kind}: ${all}`,
    )
  return { environmentId, ids, session: session.body.data.token, madeIds: await madeIdsOf(app, environmentId) }
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

// Step previews: what a step would say, rendered as it would be sent, with a payload that is given or made up.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql, Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { previewStep } from '../../src/manage/workflows/preview-step.ts'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { refusals } from '../support/workflow-scene.ts'

let app: TestApp
let workflow: Json
before(async () => {
  app = await createTestApp()
  const steps = [
    {
      name: 'Bell',
      type: 'in_app',
      controlValues: {
        subject: 'Hi {{ subscriber.firstName }}',
        body: '<b>{{ payload.order.id }}</b>{% if payload.gift %} a gift{% endif %}',
        avatar: '{{ subscriber.avatar }}',
        primaryAction: {
          label: 'See {{ payload.order.id }}',
          redirect: { url: '/o/{{ payload.order.id }}', target: '_blank' },
        },
        redirect: { url: '/all' },
        data: { id: '{{ payload.order.id }}' },
      },
    },
    { name: 'Gather', type: 'digest', controlValues: { type: 'regular', amount: 5, unit: 'minutes' } },
    {
      name: 'Mail',
      type: 'email',
      controlValues: {
        subject: '{{ step.total_count }} orders',
        body: '<p>{% for event in step.events %}{{ event.order.id }};{% endfor %}</p>',
        editorType: 'html',
      },
    },
    { name: 'Sms', type: 'sms', controlValues: { body: 'Order {{ payload.order.id }} for {{ actor.firstName }}' } },
    { name: 'Chat', type: 'chat', controlValues: { body: 'Order {{ payload.order.id }}' } },
    { name: 'Push', type: 'push', controlValues: { subject: 'Order', body: '{{ payload.order.id }}' } },
    {
      name: 'Call',
      type: 'custom',
      controlValues: { url: 'https://example.com/{{ payload.order.id }}', body: { id: '{{ payload.order.id }}' } },
    },
    { name: 'Wait', type: 'delay', controlValues: { type: 'dynamic', dynamicKey: 'at' } },
    { name: 'Brake', type: 'throttle', controlValues: { amount: 1, unit: 'hours' } },
  ]
  const reply = await app.call('POST', '/v2/workflows', { body: { workflowId: 'orders', name: 'Orders', steps } })
  assert.equal(reply.status, 201, reply.text)
  workflow = reply.body
})
after(() => app.close())

const ask = (step: string, body: Json = {}): Promise<TestReply> =>
  app.call('POST', `/v2/workflows/orders/step/${step}/preview`, { body })

async function preview(step: string, body: Json = {}): Promise<Json> {
  const reply = await ask(step, body)
  assert.equal(reply.status, 201, reply.text)
  return reply.body
}
const payload = { order: { id: '42' }, gift: true }

test('an in-app step is shown with its buttons, links and data rendered, and made safe', async () => {
  const { result } = await preview('bell', {
    previewPayload: { payload: { ...payload, order: { id: '<i>42</i>' } }, subscriber: { firstName: 'Bob' } },
  })
  assert.equal(result.type, 'in_app')
  assert.deepEqual(result.preview, {
    subject: 'Hi Bob',
    body: '<b>&lt;i&gt;42&lt;/i&gt;</b> a gift',
    avatar: 'https://example.com/ada.png',
    primaryAction: { label: 'See <i>42</i>', redirect: { url: '/o/<i>42</i>', target: '_blank' } },
    redirect: { url: '/all' },
    data: { id: '<i>42</i>' },
  })
})

test('each channel is shown in its own words', async () => {
  const previewPayload = { payload, actor: { firstName: 'Eve' } }
  const sms = await preview('sms', { previewPayload })
  assert.deepEqual(sms.result, { type: 'sms', preview: { body: 'Order 42 for Eve' } })
  assert.deepEqual((await preview('chat', { previewPayload })).result.preview, { body: 'Order 42' })
  assert.deepEqual((await preview('push', { previewPayload })).result.preview, { subject: 'Order', body: '42' })
})

test('an e-mail after a digest is shown whole, with several events', async () => {
  const { result } = await preview('mail', { previewPayload: { payload } })
  assert.equal(result.preview.subject, '3 orders')
  assert.match(result.preview.body, /^<!DOCTYPE html>.*42;42;42;/s)
  const events = [{ payload: { order: { id: '1' } } }, { payload: { order: { id: '2' } } }]
  const given = await preview('mail', { previewPayload: { payload, steps: { gather: { events } } } })
  assert.equal(given.result.preview.subject, '2 orders')
  assert.match(given.result.preview.body, />1;2;</)
})

test('a custom step shows what would be asked, and asks no one', async () => {
  app.world.onFetch = () => assert.fail('someone was asked')
  const { preview: call } = (await preview('call', { previewPayload: { payload } })).result
  assert.deepEqual(
    [call.url, call.method, call.body.id, call.body.payload],
    ['https://example.com/42', 'POST', '42', payload],
  )
})

test('steps that wait show until when', async () => {
  const now = app.world.now().getTime()
  const until = (ms: number): string => new Date(now + ms).toISOString()
  assert.equal((await preview('gather')).result.preview.until, until(5 * 60_000))
  const waiting = await preview('wait', { previewPayload: { payload: { at: { amount: 2, unit: 'hours' } } } })
  assert.equal(waiting.result.preview.until, until(2 * 3_600_000))
  assert.equal((await preview('brake')).result.preview.until, until(3_600_000))
})

test('a payload that makes the step fail is refused in words', async () => {
  const errors = refusals(await ask('wait', { previewPayload: { payload: { at: 'tomorrow' } } }))
  assert.match(errors['previewPayload.payload'] ?? '', /at/)
})

test('what is not given of the payload is made up, by the names the templates use', async () => {
  const { result, previewPayloadExample } = await preview('bell', { previewPayload: { payload: { gift: false } } })
  assert.equal(previewPayloadExample.payload.order.id, 'id')
  assert.equal(previewPayloadExample.payload.gift, false)
  assert.equal(previewPayloadExample.subscriber.firstName, 'Ada')
  assert.equal(result.preview.body, '<b>id</b>')
})

test('where there is a schema, the payload is made up by it', async () => {
  const payloadSchema = {
    type: 'object',
    properties: {
      order: { $ref: '#/definitions/order' },
      gift: { type: 'boolean' },
      many: { type: 'array', items: { type: 'integer', minimum: 3 } },
    },
    definitions: { order: { type: 'object', properties: { id: { type: 'string', examples: ['A-1'] } } } },
  }
  const body = {
    workflowId: 'described',
    name: 'x',
    payloadSchema,
    steps: [{ name: 'Sms', type: 'sms', controlValues: { body: '{{ payload.order.id }}' } }],
  }
  assert.equal((await app.call('POST', '/v2/workflows', { body })).status, 201)
  const reply = await app.call('POST', '/v2/workflows/described/step/sms/preview', { body: {} })
  assert.deepEqual(reply.body.previewPayloadExample.payload, { order: { id: 'A-1' }, gift: true, many: [3] })
  assert.equal(reply.body.result.preview.body, 'A-1')
})

test('other controls are tried without being stored', async () => {
  const before = (await app.call('GET', '/v2/workflows/orders')).text
  const { result } = await preview('sms', {
    controlValues: { body: 'Try {{ payload.order.id }}' },
    previewPayload: { payload },
  })
  assert.equal(result.preview.body, 'Try 42')
  assert.equal((await app.call('GET', '/v2/workflows/orders')).text, before)
  const rows = await app.database.db.rows(sql`select 1 from messages union all select 1 from jobs`)
  assert.equal(rows.length, 0)
})

test('controls that could not be saved are refused as there, by their names', async () => {
  assert.deepEqual(Object.keys(refusals(await ask('sms', { controlValues: { body: '{{ a' } }))), ['controlValues.body'])
  const errors = refusals(await ask('mail', { controlValues: { body: '{% if %}', redirect: { url: '/x' } } }))
  assert.ok(errors['controlValues.redirect'], JSON.stringify(errors))
  const action = { body: 'x', primaryAction: { label: '{{ a' } }
  assert.deepEqual(Object.keys(refusals(await ask('bell', { controlValues: action }))), [
    'controlValues.primaryAction.label',
  ])
})

test('a template that never ends is refused, naming its control', async () => {
  const body = '{% for a in (1..100000) %}{% for b in (1..100000) %}{{ a }}{% endfor %}{% endfor %}'
  const errors = refusals(await ask('sms', { controlValues: { body } }))
  assert.deepEqual(Object.keys(errors), ['controlValues.body'])
})

test('a preview is found by slugs, and what is not there is 404', async () => {
  const [bell] = workflow.steps
  const path = `/v2/workflows/${workflow.slug}/step/${bell.slug}/preview`
  assert.equal((await app.call('POST', path, { body: {} })).status, 201)
  assert.equal((await ask('nobody')).status, 404)
  assert.equal((await app.call('POST', '/v2/workflows/nobody/step/bell/preview', { body: {} })).status, 404)
  assert.equal((await app.call('POST', path, { body: {}, key: app.productionKey })).status, 404)
})

test('payloads of the wrong shape are refused by their names', async () => {
  const errors = refusals(await ask('sms', { previewPayload: { payload: [], subscriber: 'ada' } }))
  assert.deepEqual(Object.keys(errors).sort(), ['previewPayload.payload', 'previewPayload.subscriber'])
})

test('a context is an id, or an id with data; what is neither says nothing', async () => {
  const body = '{{ context.a.id }}|{{ context.b.id }}{{ context.b.data.n }}|{{ context.c.id }}|{{ context.d.data.n }}'
  const context = { a: 'one', b: { id: 'two', data: { n: 2 } }, c: { id: { toString: 1 } }, d: { id: 4, data: [] } }
  const { result } = await preview('sms', { controlValues: { body }, previewPayload: { context } })
  assert.equal(result.preview.body, 'one|two2||')
})

/** The locales and layouts that a preview read. */
async function readsOf(stepId: string, call: Json = {}): Promise<{ read: string[]; shown: Json }> {
  const read: string[] = []
  const { db } = app.database
  const kept = <Row>(statement: Statement, rows: Row[]): Row[] => {
    const named = /from (layouts|translations)/.test(statement.text) ? (rows as Json[]) : []
    read.push(...named.map((row) => row.locale ?? row.identifier))
    return rows
  }
  const recording: Sql = {
    rows: async <Row extends object>(statement: Statement) => kept(statement, await db.rows<Row>(statement)),
    row: async <Row extends object>(statement: Statement) => kept(statement, await db.rows<Row>(statement))[0],
    run: (statement) => db.run(statement),
  }
  const principal = { environment: await environmentOf(app), keyId: 'k', keyName: 'Key', scopes: ['full'] } as const
  const answer = await previewStep(recording, app.world, principal, { workflowId: 'orders', stepId, ...call })
  return { read: read.sort(), shown: answer.body.result.preview }
}

test('only the texts that the subscriber can get are read, and none where no template uses them', async () => {
  for (const locale of ['fr', 'de', 'de-AT', 'pt-BR']) {
    const body = { texts: { hi: `Hi in ${locale}`, ...(locale === 'fr' ? { only: 'Seulement' } : {}) } }
    assert.equal((await app.call('PUT', `/v1/translations/${locale}`, { body })).status, 200)
    app.world.advance(1_000)
  }
  const controlValues = { body: "{{ 'hi' | t }}, {{ 'only' | t }}" }
  const austrian = { controlValues, previewPayload: { subscriber: { locale: 'de_at' } } }
  const first = await readsOf('sms', austrian)
  assert.deepEqual(first, { read: ['de', 'de-AT', 'fr'], shown: { body: 'Hi in de-AT, Seulement' } })
  assert.equal((await app.call('PUT', '/v1/translations/en', { body: { texts: { only: 'Only' } } })).status, 200)
  const second = await readsOf('sms', austrian)
  assert.deepEqual(second, { read: ['de', 'de-AT', 'en'], shown: { body: 'Hi in de-AT, Only' } })
  const nowhere = await readsOf('sms', { controlValues, previewPayload: { subscriber: { locale: '?' } } })
  assert.deepEqual(nowhere, { read: ['en'], shown: { body: 'hi, Only' } })
  assert.deepEqual((await readsOf('sms')).read, [])
  assert.deepEqual((await readsOf('mail')).read, [])
})

test('a custom step’s settings are translated too', async () => {
  const controlValues = { url: 'https://example.com/', body: { text: "{{ 'hi' | t }}" } }
  const { shown } = await readsOf('call', { controlValues, previewPayload: { subscriber: { locale: 'de' } } })
  assert.equal(shown.body.text, 'Hi in de')
})

test('an e-mail is put into the layout it names, else the default; others are not read', async () => {
  const make = async (identifier: string, more: object = {}) => {
    const content = `<i>${identifier}{{ 'frame' | t }}</i>{{{ body }}}`
    const reply = await app.call('POST', '/v1/layouts', { body: { identifier, name: identifier, content, ...more } })
    assert.equal(reply.status, 201, reply.text)
  }
  await make('first')
  await make('second', { isDefault: true })
  assert.equal((await app.call('PUT', '/v1/translations/en', { body: { texts: { frame: '!' } } })).status, 200)
  const mailIn = (layoutId?: string | null) =>
    readsOf('mail', { controlValues: { subject: 's', body: 'x', ...(layoutId === undefined ? {} : { layoutId }) } })
  const named = await mailIn('first')
  assert.deepEqual([named.read, /<i[^>]*>first!</.test(named.shown.body)], [['en', 'first'], true])
  const standard = await mailIn()
  assert.deepEqual([standard.read, /<i[^>]*>second!</.test(standard.shown.body)], [['en', 'second'], true])
  assert.deepEqual((await mailIn(null)).read, [])
})

test('a preview costs twenty calls', async () => {
  const limited = await createTestApp({ nodeOf: app, rateLimits: { trigger: 1, configuration: 1, global: 1 } })
  try {
    const asked = () => limited.call('POST', '/v2/workflows/orders/step/sms/preview', { body: {} })
    const replies = []
    // A bucket of a hundred.
    for (let count = 0; count < 6; count += 1) replies.push((await asked()).status)
    assert.deepEqual(replies, [201, 201, 201, 201, 201, 429])
  } finally {
    await limited.close()
  }
})

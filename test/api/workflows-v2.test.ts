// Workflows in API v2: made, read, listed, changed and deleted; and how v1 and v2 read what the other made.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { condition, create, currentVersion, delay, digest, inApp } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const bell = (more: object = {}): Json => ({ name: 'Bell', type: 'in_app', controlValues: { body: 'Hello', ...more } })

async function createV2(body: Json): Promise<Json> {
  const reply = await app.call('POST', '/v2/workflows', { body: { name: 'x', steps: [bell()], ...body } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body
}

async function read(name: string): Promise<Json> {
  const reply = await app.call('GET', `/v2/workflows/${name}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

async function replace(name: string, body: Json): Promise<Json> {
  const whole = { name: 'x', steps: [bell()], preferences: { user: null }, ...body }
  const reply = await app.call('PUT', `/v2/workflows/${name}`, { body: whole })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

test('a workflow is made, and found by its id, its identifier and its slug', async () => {
  const made = await createV2({ workflowId: 'found', name: 'To be found', tags: ['a', 'a'], severity: 'high' })
  assert.match(made.slug, /^to-be-found_wf_[0-9A-Za-z]{22}$/)
  assert.deepEqual(
    [made.workflowId, made.status, made.active, made.origin, made.tags, made.severity, made.description],
    ['found', 'INACTIVE', false, 'platform-cloud', ['a'], 'high', ''],
  )
  assert.deepEqual([made.issues, made.validatePayload, made.isTranslationEnabled], [{}, true, false])
  assert.equal(made.lastTriggeredAt, null)
  for (const name of [made._id, 'found', made.slug]) assert.deepEqual(await read(name), made)
  const [step] = made.steps
  for (const name of [step._id, 'bell', step.slug]) {
    const reply = await app.call('GET', `/v2/workflows/${made.slug}/steps/${name}`)
    assert.deepEqual([reply.status, reply.body], [200, step])
  }
  assert.deepEqual([step.workflowId, step.workflowDatabaseId, step.origin], ['found', made._id, 'platform-cloud'])
  assert.deepEqual(step.controls.values, step.controlValues)
})

test('what is not there is 404, also in another environment', async () => {
  const made = await createV2({ workflowId: 'elsewhere' })
  const key = app.productionKey
  for (const name of [made._id, made.workflowId, made.slug]) {
    for (const method of ['GET', 'DELETE']) {
      assert.equal((await app.call(method, `/v2/workflows/${name}`, { key })).status, 404)
    }
    assert.equal((await app.call('PATCH', `/v2/workflows/${name}`, { key, body: { name: 'y' } })).status, 404)
  }
  assert.equal((await app.call('GET', `/v2/workflows/${made._id}/steps/nobody`)).status, 404)
  assert.equal((await app.call('GET', '/v2/workflows/nobody/steps/bell')).status, 404)
})

test('an identifier is kept as it is given, taken once, and wins over a slug that reads the same', async () => {
  const first = await createV2({ workflowId: 'Kept.As_it:is' })
  assert.equal(first.workflowId, 'Kept.As_it:is')
  const again = { workflowId: 'Kept.As_it:is', name: 'y', steps: [] }
  assert.equal((await app.call('POST', '/v2/workflows', { body: again })).status, 409)
  const namesake = await createV2({ workflowId: first.slug })
  assert.equal((await read(first.slug))._id, namesake._id)
  await app.call('DELETE', `/v2/workflows/${namesake._id}`)
  assert.equal((await read(first.slug))._id, first._id)
})

test('a step without a stepId has the slug of its name, and steps of one name are distinguished', async () => {
  const made = await createV2({
    workflowId: 'named',
    steps: [bell(), { ...bell(), stepId: 'bell-2' }, bell(), { ...bell(), name: '北' }],
  })
  assert.deepEqual(
    made.steps.map((step: Json) => step.stepId),
    ['bell', 'bell-2', 'bell-3', 'in-app'],
  )
})

test('on a change, steps that are named again keep their ids and names; the others are new', async () => {
  const made = await createV2({ workflowId: 'changed', steps: [bell(), { ...bell(), name: 'Second' }] })
  const [first, second] = made.steps
  const next = await replace('changed', {
    steps: [
      { ...bell(), name: 'Renamed', _id: second._id },
      { ...bell({ body: 'Other' }), stepId: first.stepId },
      { ...bell(), name: 'Third' },
    ],
  })
  assert.deepEqual(
    next.steps.map((step: Json) => [step._id, step.stepId, step.name]),
    [
      [second._id, 'second', 'Renamed'],
      [first._id, 'bell', 'Bell'],
      [next.steps[2]._id, 'third', 'Third'],
    ],
  )
  assert.ok(![first._id, second._id].includes(next.steps[2]._id))
})

test('PATCH changes what it names, null clears, and steps and preferences stay', async () => {
  const schema = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }
  const made = await createV2({ workflowId: 'patched', description: 'old', payloadSchema: schema })
  const patch = async (body: Json): Promise<Json> =>
    (await app.call('PATCH', `/v2/workflows/${made.slug}`, { body })).body
  const changed = await patch({ active: true, name: 'New', tags: ['t'], validatePayload: false, steps: [] })
  assert.deepEqual(
    [changed.status, changed.name, changed.tags, changed.validatePayload, changed.description],
    ['ACTIVE', 'New', ['t'], false, 'old'],
  )
  assert.deepEqual(changed.steps, made.steps)
  assert.deepEqual(changed.payloadSchema, schema)
  const cleared = await patch({ payloadSchema: null, description: null, isTranslationEnabled: true })
  assert.deepEqual(
    [cleared.payloadSchema, cleared.description, cleared.isTranslationEnabled, cleared.active],
    [undefined, '', true, true],
  )
})

test('members of API v1 are ignored, whatever they hold', async () => {
  const others = { data: 5, critical: true, identifier: 'sneaked', notificationGroupId: 'x', preferenceSettings: 'no' }
  const made = await createV2({ workflowId: 'ignoring', ...others })
  await replace('ignoring', others)
  await app.call('PATCH', '/v2/workflows/ignoring', { body: { ...others, workflowId: 'sneaked', severity: 'high' } })
  const first = (await app.call('GET', '/v1/workflows/ignoring')).body
  assert.deepEqual([first._id, first.data, first.critical, first.severity], [made._id, undefined, false, 'none'])
})

test('a call that changes nothing makes no version and leaves the origin', async () => {
  const made = await create(app, { name: 'same', workflowId: 'same', steps: [inApp()] })
  const version = await currentVersion(app, made._id)
  await app.call('PATCH', '/v2/workflows/same', { body: { name: 'same' } })
  assert.equal(await currentVersion(app, made._id), version)
  assert.equal((await read('same')).origin, 'platform-cloud-v1')
  await app.call('PATCH', '/v2/workflows/same', { body: { name: 'other' } })
  assert.equal((await read('same')).origin, 'platform-cloud')
})

test('DELETE answers 204, and frees the identifier', async () => {
  const made = await createV2({ workflowId: 'gone' })
  const deleted = await app.call('DELETE', `/v2/workflows/${made.slug}`)
  assert.deepEqual([deleted.status, deleted.text], [204, ''])
  assert.equal((await app.call('DELETE', '/v2/workflows/gone')).status, 404)
  assert.notEqual((await createV2({ workflowId: 'gone' }))._id, made._id)
})

test('preferences come to the settings that count, and read as they were given', async () => {
  const all = { enabled: true, readOnly: true }
  const workflow = { all, channels: { email: { enabled: false } } }
  const user = { all: { readOnly: false }, channels: { sms: { enabled: false } } }
  const made = await createV2({ workflowId: 'prefs', preferences: { user, workflow } })
  assert.equal(made.preferences.user.all.readOnly, false)
  assert.equal(made.preferences.user.channels.sms.enabled, false)
  assert.equal(made.preferences.default.channels.email.enabled, false)
  assert.equal(made.preferences.default.all.readOnly, true)
  const first = (await app.call('GET', '/v1/workflows/prefs')).body
  assert.equal(first.critical, false, 'the dashboard wins over the author')
  assert.deepEqual(first.preferenceSettings, { email: false, sms: false, in_app: true, chat: true, push: true })
  assert.equal(first.preferences, undefined, 'a member of API v2')

  await app.call('PATCH', '/v1/workflows/prefs', { body: { critical: true, preferenceSettings: { email: true } } })
  const { preferences } = await read('prefs')
  assert.equal(preferences.user, null, 'what was given is no longer so')
  assert.deepEqual(
    [preferences.default.all.readOnly, preferences.default.channels.email, preferences.default.channels.sms],
    [true, { enabled: true }, { enabled: false }],
  )
})

test('a channel without a word of its own has that of all', async () => {
  const workflow = { all: { enabled: false }, channels: { chat: { enabled: true } } }
  await createV2({ workflowId: 'off', preferences: { user: null, workflow } })
  const { preferenceSettings } = (await app.call('GET', '/v1/workflows/off')).body
  assert.deepEqual(preferenceSettings, { email: false, sms: false, in_app: false, chat: true, push: false })
})

test('the list pages, sorts, searches, and counts all that fit', async () => {
  const tags = ['listed']
  for (const [workflowId, name, active] of [
    ['list-b', 'Banana', true],
    ['list-a', 'Apple', false],
    ['list-c', 'Cherry', true],
  ] as const) {
    await createV2({ workflowId, name, active, tags })
    app.world.advance(1_000)
  }
  await app.call('PATCH', '/v2/workflows/list-b', { body: { description: 'newest change' } })
  const list = async (query: string): Promise<Json> => {
    const reply = await app.call('GET', `/v2/workflows?tags=listed&${query}`)
    assert.equal(reply.status, 200, reply.text)
    return { names: reply.body.workflows.map((one: Json) => one.name), totalCount: reply.body.totalCount }
  }
  const cases: Record<string, string[]> = {
    '': ['Cherry', 'Apple', 'Banana'],
    'orderDirection=ASC': ['Banana', 'Apple', 'Cherry'],
    'orderBy=name&orderDirection=ASC': ['Apple', 'Banana', 'Cherry'],
    'orderBy=updatedAt': ['Banana', 'Cherry', 'Apple'],
    'status=INACTIVE': ['Apple'],
    'status=ACTIVE&orderBy=name': ['Cherry', 'Banana'],
    'status=ACTIVE&status=INACTIVE&query=ana': ['Banana'],
    'query=list-c': ['Cherry'],
    'status=ERROR': [],
  }
  for (const [query, names] of Object.entries(cases)) {
    assert.deepEqual(await list(query), { names, totalCount: names.length }, query)
  }
  assert.deepEqual(await list('limit=1&offset=1&orderBy=name'), { names: ['Banana'], totalCount: 3 })
  const item = (await app.call('GET', '/v2/workflows?query=list-b')).body.workflows[0]
  assert.deepEqual(item.stepTypeOverviews, ['in_app'])
  assert.deepEqual([item.steps.length, item.steps[0].type, item.origin], [1, 'in_app', 'platform-cloud'])
  for (const query of ['limit=0', 'limit=101', 'offset=-1', 'orderBy=lastTriggeredAt', 'status=GONE']) {
    assert.equal((await app.call('GET', `/v2/workflows?${query}`)).status, 422, query)
  }
})

/** A workflow with much that only API v1 can say. */
async function createFirst(workflowId: string): Promise<Json> {
  const filters = [condition('team')]
  const content = [{ type: 'text', content: 'Hello {{ payload.name }}' }]
  const buttons = [{ type: 'primary', content: 'Yes', resultContent: 'Done' }]
  const cta = { type: 'redirect', data: { url: '/x' }, action: { buttons } }
  const bellTemplate = { type: 'in_app', content: 'Hi', cta, actor: { type: 'user', data: null } }
  const mailTemplate = { type: 'email', subject: 'S', contentType: 'editor', content, senderName: 'Shop' }
  return create(app, {
    name: 'First',
    workflowId,
    critical: true,
    data: { own: 1 },
    steps: [
      { template: bellTemplate, filters, shouldStopOnFail: true, variants: [inApp('Ho', { filters })] },
      digest({ metadata: { type: 'backoff', amount: 5, unit: 'minutes', digestKey: 'id' }, active: false }),
      delay({ metadata: { type: 'scheduled', delayPath: 'at' } }),
      { template: mailTemplate },
    ],
  })
}

test('a workflow of API v1 reads through v2', async () => {
  const made = await createFirst('first')
  const second = await read('first')
  assert.equal(second.origin, 'platform-cloud-v1')
  assert.deepEqual(
    second.steps.map((step: Json) => [step._id, step.stepId, step.type]),
    made.steps.map((step: Json) => [step._id, step.uuid, step.template.type]),
  )
  const [bellStep, digestStep] = second.steps
  const five = { amount: 5, unit: 'minutes' }
  const body = JSON.stringify(made.steps[3].template.content)
  assert.deepEqual(
    second.steps.map((step: Json) => step.controlValues),
    [
      { body: 'Hi', primaryAction: { label: 'Yes' }, redirect: { url: '/x' } },
      { type: 'regular', ...five, digestKey: 'id', lookBackWindow: five },
      { type: 'scheduled', delayPath: 'at' },
      { subject: 'S', body, editorType: 'block', from: { name: 'Shop' } },
    ],
  )
  assert.deepEqual([bellStep.shouldStopOnFail, bellStep.filters], [true, made.steps[0].filters])
  assert.deepEqual([bellStep.variants.length, digestStep.active], [1, false])
  assert.deepEqual(second.preferences.default.all, { enabled: true, readOnly: true })
})

test('a change by API v2 keeps what only v1 can say', async () => {
  const made = await createFirst('kept')
  const second = await read('kept')
  await replace('kept', { ...second, preferences: { user: null, workflow: second.preferences.default } })
  const now = (await app.call('GET', '/v1/workflows/kept')).body
  const { backoffAmount, backoffUnit, ...metadata } = now.steps[1].metadata
  assert.deepEqual([backoffAmount, backoffUnit, metadata], [5, 'minutes', made.steps[1].metadata])
  // API v2 wants a name for each step, and a back-off that says how long.
  const comparable = (workflow: Json): Json => ({
    ...workflow,
    updatedAt: '',
    validatePayload: workflow.validatePayload ?? true,
    isTranslationEnabled: workflow.isTranslationEnabled ?? false,
    steps: workflow.steps.map((step: Json) => ({ ...step, name: '', metadata: step.metadata?.type })),
  })
  assert.deepEqual(comparable(now), comparable(made))
  assert.equal((await read('kept')).origin, 'platform-cloud')
})

test('a workflow of API v2 reads through v1', async () => {
  const skip = { '==': [{ var: 'payload.plan' }, 'free'] }
  await createV2({
    workflowId: 'second',
    steps: [
      bell({
        skip,
        avatar: 'https://x.example/a.png',
        secondaryAction: { label: 'No', redirect: { url: '/no', target: '_blank' } },
      }),
      { name: 'Gather', type: 'digest', controlValues: { type: 'timed', cron: '0 9 * * 1', extendToSchedule: true } },
      { name: 'Push', type: 'push', controlValues: { subject: 'T', body: 'B' } },
      {
        name: 'Mail',
        type: 'email',
        controlValues: {
          subject: 'S',
          body: '<p>B</p>',
          from: { email: 'a@example.com', name: 'A' },
          replyTo: 'r@example.com',
        },
      },
    ],
  })
  const { steps } = (await app.call('GET', '/v1/workflows/second')).body
  assert.deepEqual(steps[0].skip, skip)
  assert.deepEqual(steps[0].template, {
    type: 'in_app',
    content: 'Hello',
    actor: { type: 'system_custom', data: 'https://x.example/a.png' },
    cta: { action: { buttons: [{ type: 'secondary', content: 'No', redirect: { url: '/no', target: '_blank' } }] } },
  })
  assert.deepEqual(steps[1].metadata, { type: 'timed', cron: '0 9 * * 1', extendToSchedule: true })
  assert.deepEqual(steps[2].template, { type: 'push', title: 'T', content: 'B' })
  assert.deepEqual(steps[3].template, {
    type: 'email',
    subject: 'S',
    contentType: 'customHtml',
    content: '<p>B</p>',
    from: { email: 'a@example.com', name: 'A' },
    replyTo: 'r@example.com',
  })
})

test('a schema that is not enforced refuses no payload, and one that is does', async () => {
  const payloadSchema = { type: 'object', required: ['id'] }
  await createV2({ workflowId: 'checked', active: true, payloadSchema })
  const trigger = async (): Promise<string> => {
    const body = { events: [{ name: 'checked', to: ['ada'], payload: {} }] }
    return (await app.call('POST', '/v1/events/trigger/bulk', { body })).body[0].status
  }
  assert.equal(await trigger(), 'error')
  await app.call('PATCH', '/v2/workflows/checked', { body: { validatePayload: false } })
  assert.equal(await trigger(), 'processed')
  assert.deepEqual((await read('checked')).payloadSchema, payloadSchema)
})

test('when it was last triggered is reported, over its versions', async () => {
  await createV2({ workflowId: 'told', active: true })
  await app.call('POST', '/v1/events/trigger', { body: { name: 'told', to: 'ada', payload: {} } })
  const at = app.world.now().toISOString()
  app.world.advance(60_000)
  await app.call('PATCH', '/v2/workflows/told', { body: { name: 'Another version' } })
  assert.equal((await read('told')).lastTriggeredAt, at)
  const listed = (await app.call('GET', '/v2/workflows?query=told')).body.workflows[0]
  assert.equal(listed.lastTriggeredAt, at)
  const activity = (await app.call('GET', '/v1/notifications')).body.data
  assert.equal(
    activity.find((one: Json) => one.template.triggers[0].identifier === 'told').template.origin,
    'platform-cloud',
  )
})

test('a step whose channel no one sends for says so, and is no mistake', async () => {
  const made = await createV2({
    workflowId: 'nobody',
    steps: [{ name: 'P', type: 'push', controlValues: { body: 'x' } }],
  })
  assert.equal(made.steps[0].issues.integration.push[0].issueType, 'MISSING_INTEGRATION')
  assert.equal(made.status, 'INACTIVE')
})

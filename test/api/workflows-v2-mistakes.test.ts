// Ill-formed workflows of API v2: every mistake is found when they are saved, and named by its place there.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { create, inApp, refusals } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const step = (type: string, controlValues?: Json, more: object = {}): Json => ({
  name: 'S',
  type,
  ...(controlValues === undefined ? {} : { controlValues }),
  ...more,
})
async function refused(body: Json): Promise<Record<string, string>> {
  return refusals(await app.call('POST', '/v2/workflows', { body: { workflowId: 'x', name: 'x', steps: [], ...body } }))
}
const withSteps = (...steps: Json[]): Promise<Record<string, string>> => refused({ steps })
const paths = (errors: Record<string, string>): string[] => Object.keys(errors).sort()

test('every type that is none is refused, with the nearest that is', async () => {
  const errors = await withSteps(
    ...['emial', 'trigger', 'http_request', 'tool', 'constructor', ''].map((type) => step(type)),
  )
  assert.deepEqual(
    paths(errors),
    [0, 1, 2, 3, 4, 5].map((place) => `steps.${place}.type`),
  )
  assert.match(errors['steps.0.type'] ?? '', /did you mean email/)
  assert.match(errors['steps.2.type'] ?? '', /custom/)
})

test('what a type cannot do without is named by its control', async () => {
  const errors = await withSteps(
    step('email'),
    step('email', { subject: ' ', body: '' }),
    step('in_app', { subject: 'x' }),
    step('sms', { body: ' ' }),
    step('chat', null),
    step('push', { subject: 'x' }),
    step('digest'),
    step('delay', { type: 'regular' }),
    step('throttle', {}),
    step('custom', {}),
  )
  assert.deepEqual(paths(errors), [
    'steps.0.controlValues.body',
    'steps.0.controlValues.subject',
    'steps.1.controlValues.body',
    'steps.1.controlValues.subject',
    'steps.2.controlValues.body',
    'steps.3.controlValues.body',
    'steps.4.controlValues.body',
    'steps.5.controlValues.body',
    'steps.6.controlValues.amount',
    'steps.6.controlValues.unit',
    'steps.7.controlValues.amount',
    'steps.7.controlValues.unit',
    'steps.8.controlValues.amount',
    'steps.8.controlValues.unit',
    'steps.9.controlValues.url',
  ])
})

test('templates that cannot be parsed are named by their control, with line and column', async () => {
  const bad = '{{ a'
  const errors = await withSteps(
    step('email', { subject: bad, body: bad, preheader: bad, from: { name: bad }, replyTo: bad }),
    step('email', { subject: 'x', body: 'x', from: { email: bad, name: bad } }),
    step('in_app', {
      body: bad,
      subject: bad,
      avatar: bad,
      primaryAction: { label: bad, redirect: { url: '/x' } },
      secondaryAction: { label: 'x', redirect: { url: bad } },
      redirect: { url: bad },
      data: { deep: [bad] },
    }),
    step('push', { subject: bad, body: 'x' }),
  )
  assert.deepEqual(paths(errors), [
    'steps.0.controlValues.body',
    'steps.0.controlValues.from.name',
    'steps.0.controlValues.preheader',
    'steps.0.controlValues.replyTo',
    'steps.0.controlValues.subject',
    'steps.1.controlValues.from.email',
    'steps.1.controlValues.from.name',
    'steps.2.controlValues.avatar',
    'steps.2.controlValues.body',
    'steps.2.controlValues.data.deep.0',
    'steps.2.controlValues.primaryAction.label',
    'steps.2.controlValues.redirect.url',
    'steps.2.controlValues.secondaryAction.redirect.url',
    'steps.2.controlValues.subject',
    'steps.3.controlValues.subject',
  ])
  assert.match(errors['steps.0.controlValues.body'] ?? '', /line 1/)
})

test('the document of a block editor is refused, not shown as braces', async () => {
  const doc = JSON.stringify({ type: 'doc', content: [{ type: 'paragraph' }] })
  const errors = await withSteps(
    step('email', { subject: 'x', body: doc, editorType: 'block' }),
    step('email', { subject: 'x', body: doc }),
    step('chat', { body: doc, editorType: 'block' }),
  )
  assert.deepEqual(
    paths(errors),
    [0, 1, 2].map((place) => `steps.${place}.controlValues.body`),
  )
  for (const message of Object.values(errors)) assert.match(message, /block editor/)
})

test('blocks are checked one by one', async () => {
  const blocks = [
    { type: 'text', content: '{{ a' },
    { type: 'button', content: 'Go' },
    { type: 'picture', content: 5 },
  ]
  const errors = await withSteps(step('email', { subject: 'x', body: JSON.stringify(blocks), editorType: 'block' }))
  for (const path of ['body.0.content', 'body.1.url', 'body.2.type', 'body.2.content']) {
    assert.ok(errors[`steps.0.controlValues.${path}`], `${path} in ${paths(errors)}`)
  }
})

test('controls of another type are refused, empty ones and unknown ones are not', async () => {
  const errors = await withSteps(
    step('sms', { body: 'x', subject: 'x' }),
    step('delay', { type: 'regular', amount: 1, unit: 'hours', threshold: 5 }),
    step('in_app', { body: 'x', layoutId: 'x', cron: '* * * * *' }),
    step('email', { subject: 'x', body: 'x', redirect: { url: '/x' } }),
  )
  assert.deepEqual(paths(errors), [
    'steps.0.controlValues.subject',
    'steps.1.controlValues.threshold',
    'steps.2.controlValues.cron',
    'steps.2.controlValues.layoutId',
    'steps.3.controlValues.redirect',
  ])
  const harmless = { body: 'x', subject: '', data: {}, from: null, primaryAction: null, skip: {}, whatever: 5 }
  const body = { workflowId: 'harmless', name: 'x', steps: [step('sms', harmless)] }
  const made = await app.call('POST', '/v2/workflows', { body })
  assert.equal(made.status, 201, made.text)
  assert.deepEqual(made.body.steps[0].controlValues, { body: 'x' })
})

test('settings that belong to another kind of the same type are refused', async () => {
  const hour = { amount: 1, unit: 'hours' }
  const errors = await withSteps(
    step('digest', { type: 'timed', cron: '0 9 * * *', lookBackWindow: hour }),
    step('digest', { type: 'regular', ...hour, cron: '0 9 * * *' }),
    step('delay', { type: 'regular', ...hour, dynamicKey: 'at' }),
    step('delay', { type: 'timed', cron: 'every day' }),
    step('delay', { type: 'dynamic' }),
    step('delay', { type: 'sometimes' }),
    step('digest', { type: 'backoff-ish', ...hour }),
    step('throttle', { type: 'dynamic' }),
    step('throttle', { ...hour, threshold: 0 }),
    step('custom', { url: 'ftp://example.com' }),
  )
  for (const [place, name] of [
    [1, 'cron'],
    [2, 'dynamicKey'],
    [3, 'cron'],
    [4, 'dynamicKey'],
    [5, 'type'],
    [6, 'type'],
    [7, 'dynamicKey'],
    [8, 'threshold'],
    [9, 'url'],
  ] as const) {
    assert.ok(errors[`steps.${place}.controlValues.${name}`], `${place} ${name} in ${paths(errors)}`)
  }
})

test('a timed digest looks back at nothing', async () => {
  const lookBackWindow = { amount: 1, unit: 'hours' }
  const errors = await withSteps(step('digest', { type: 'timed', cron: '0 9 * * *', lookBackWindow }))
  assert.deepEqual(paths(errors), ['steps.0.controlValues.lookBackWindow'])
})

test('an action without a label, and an editor no one knows, are refused', async () => {
  const errors = await withSteps(
    step('in_app', { body: 'x', primaryAction: { redirect: { url: '/x' } }, secondaryAction: { label: ' ' } }),
    step('email', { subject: 'x', body: 'x', editorType: 'text' }),
  )
  assert.deepEqual(paths(errors), [
    'steps.0.controlValues.primaryAction.label',
    'steps.0.controlValues.secondaryAction.label',
    'steps.1.controlValues.editorType',
  ])
})

test('a rule to skip by that cannot be followed is refused, never passed over', async () => {
  const errors = await withSteps(
    step('sms', { body: 'x', skip: { nonsense: [1] } }),
    step('digest', { amount: 1, unit: 'hours', skip: { and: [{ '==': [1, 1] }, { almost: [1, 1] }] } }),
  )
  assert.ok(
    paths(errors).some((path) => path.startsWith('steps.0.controlValues.skip')),
    paths(errors).join(),
  )
  assert.ok(
    paths(errors).some((path) => path.startsWith('steps.1.controlValues.skip')),
    paths(errors).join(),
  )
})

test('addresses that are no links, and layouts that there are not, are refused', async () => {
  const errors = await withSteps(
    step('in_app', { body: 'x', redirect: { url: 'javascript:alert(1)' } }),
    step('in_app', { body: 'x', primaryAction: { label: 'x', redirect: { url: 'data:text/html,x' } } }),
  )
  assert.deepEqual(paths(errors), [
    'steps.0.controlValues.redirect.url',
    'steps.1.controlValues.primaryAction.redirect.url',
  ])
  const unknown = await withSteps(step('email', { subject: 'x', body: 'x', layoutId: 'nowhere' }))
  assert.deepEqual(paths(unknown), ['steps.0.controlValues.layoutId'])
})

test('steps that share a name or an id are refused, and so are names that go in a circle', async () => {
  const shared = await withSteps(
    step('sms', { body: 'x' }, { stepId: 'a' }),
    step('sms', { body: 'x' }, { stepId: 'a' }),
  )
  assert.deepEqual(paths(shared), ['steps.1.stepId'])
  const made = await create(app, {
    name: 'c',
    workflowId: 'circle',
    steps: [inApp('a', { uuid: 'a' }), inApp('b', { uuid: 'b' })],
  })
  const [a, b] = made.steps
  const body = {
    name: 'c',
    preferences: {},
    steps: [
      step('in_app', { body: 'x' }, { _id: a._id, stepId: 'b' }),
      step('in_app', { body: 'x' }, { _id: b._id, stepId: 'a' }),
    ],
  }
  assert.equal((await app.call('PUT', '/v2/workflows/circle', { body })).status, 422)
})

test('there is a limit on everything', async () => {
  const cases: readonly [string, Json][] = [
    ['name', { name: 'x'.repeat(129) }],
    ['name', { name: '' }],
    ['name', { name: '  ' }],
    ['description', { description: 'x'.repeat(257) }],
    ['tags', { tags: Array.from({ length: 17 }, (_, index) => `t${index}`) }],
    ['tags.0', { tags: ['x'.repeat(65)] }],
    ['severity', { severity: 'urgent' }],
    ['workflowId', { workflowId: 'has blanks' }],
    ['workflowId', { workflowId: 'x'.repeat(256) }],
    ['payloadSchema.type', { payloadSchema: { type: 'nothing' } }],
    ['payloadSchema', { payloadSchema: { description: 'x'.repeat(64 * 1024) } }],
    ['steps', { steps: Array.from({ length: 51 }, () => step('sms', { body: 'x' })) }],
    ['steps.0.name', { steps: [{ type: 'sms', controlValues: { body: 'x' } }] }],
    ['steps.0.stepId', { steps: [step('sms', { body: 'x' }, { stepId: 'x'.repeat(256) })] }],
    ['preferences.user.all.enabled', { preferences: { user: { all: { enabled: 'yes' } } } }],
    [
      'preferences.workflow.channels.email.enabled',
      { preferences: { workflow: { channels: { email: { enabled: 1 } } } } },
    ],
  ]
  for (const [path, body] of cases)
    assert.ok((await refused(body))[path], `${path}: ${JSON.stringify(body).slice(0, 80)}`)
})

test('control values of the wrong shape are named by their place', async () => {
  const controls: readonly [string, Json][] = [
    ['subject', { subject: 5 }],
    ['subject', { subject: 'x'.repeat(4097) }],
    ['body', { body: 5 }],
    ['body', { body: 'x'.repeat(256 * 1024 + 1) }],
    ['from', { from: 'a@example.com' }],
    ['primaryAction', { primaryAction: 'x' }],
    ['redirect.url', { redirect: {} }],
    ['redirect.target', { redirect: { url: '/x', target: '_nowhere' } }],
    ['data', { data: [] }],
    ['amount', { amount: 'many' }],
    ['unit', { unit: 'fortnights' }],
    ['lookBackWindow.unit', { lookBackWindow: { amount: 1 } }],
    ['skip', { skip: 'never' }],
    ['disableOutputSanitization', { disableOutputSanitization: 'yes' }],
    ['method', { method: 'GET' }],
  ]
  for (const [path, controlValues] of controls) {
    const errors = await withSteps(step('in_app', controlValues))
    assert.ok(errors[`steps.0.controlValues.${path}`], `${path} in ${paths(errors)}`)
  }
  assert.deepEqual(paths(await withSteps(step('in_app', 'text'))), ['steps.0.controlValues'])
})

test('PUT wants the name, the steps and the preferences', async () => {
  await create(app, { name: 'p', workflowId: 'put', steps: [] })
  const reply = await app.call('PUT', '/v2/workflows/put', { body: {} })
  assert.deepEqual(paths(refusals(reply)), ['name', 'preferences', 'steps'])
})

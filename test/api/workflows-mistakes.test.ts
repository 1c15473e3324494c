// Ill-formed workflows: every mistake is found when they are saved, all at once, each named by its place.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { createRandom, fuzzRounds, fuzzSeed } from '../support/random.ts'
import { condition, create, delay, digest, email, inApp, refusals, refused } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const withSteps = (...steps: Json[]): Promise<Record<string, string>> => refused(app, { name: 'x', steps })
const paths = (errors: Record<string, string>): string[] => Object.keys(errors).sort()

test('a template with a syntax error is refused, naming step, field and line', async () => {
  const broken = 'one\ntwo\n{% if payload.a %}never closed'
  const errors = await withSteps(
    inApp('fine'),
    email(broken, { template: { ...email().template, preheader: '{{ a | nofilter }}', subject: broken } }),
  )
  assert.deepEqual(paths(errors), ['steps.1.template.preheader', 'steps.1.template.subject'])
  assert.match(errors['steps.1.template.subject'] ?? '', /^steps\.1\.template\.subject .*line 3/)
})

test('templates of blocks, buttons and variants are checked as well, and so are the values of conditions', async () => {
  const bad = '{{ a'
  const blocks = [
    { type: 'text', content: 'fine' },
    { type: 'button', content: 'Go', url: bad },
  ]
  const cta = { data: { url: bad }, action: { buttons: [{ type: 'primary', content: bad }] } }
  const errors = await withSteps(
    { template: { type: 'email', subject: 'x', contentType: 'editor', content: blocks } },
    { template: { type: 'in_app', content: 'x', cta } },
    inApp('x', { filters: [condition('fine'), condition(bad)], variants: [inApp(bad, { filters: [condition(bad)] })] }),
  )
  assert.deepEqual(paths(errors), [
    'steps.0.template.content.1.url',
    'steps.1.template.cta.action.buttons.0.content',
    'steps.1.template.cta.data.url',
    'steps.2.filters.1.children.0.value',
    'steps.2.variants.0.filters.0.children.0.value',
    'steps.2.variants.0.template.content',
  ])
})

test('the value of a condition may be empty', async () => {
  const made = await create(app, { name: 'x', steps: [inApp('x', { filters: [condition('')] })] })
  assert.equal(made.steps[0].filters[0].children[0].value, '')
})

test('an unknown type of step is refused, naming the nearest', async () => {
  const errors = await withSteps({ template: { type: 'emial', content: 'x' } }, { template: { type: 'trigger' } })
  assert.match(errors['steps.0.template.type'] ?? '', /did you mean email/)
  assert.match(errors['steps.1.template.type'] ?? '', /not a known step type/)
})

test('broken settings of digests and delays are refused, naming each', async () => {
  const errors = await withSteps(
    digest({ metadata: { type: 'regular', amount: -1, unit: 'minutes' } }),
    digest({ metadata: undefined }),
    digest({ metadata: { type: 'scheduled', delayPath: 'at' } }),
    digest({ metadata: { type: 'timed', amount: 1, unit: 'days', timed: { atTime: '25:00' } } }),
    delay({ metadata: { type: 'scheduled' } }),
    delay({ metadata: { type: 'backoff', amount: 1, unit: 'days' } }),
  )
  assert.deepEqual(paths(errors), [
    'steps.0.metadata.amount',
    'steps.1.metadata',
    'steps.2.metadata.type',
    'steps.3.metadata.timed.atTime',
    'steps.4.metadata.delayPath',
    'steps.5.metadata.type',
  ])
})

test('settings and variants stand only where they mean something', async () => {
  const errors = await withSteps(
    inApp('x', { metadata: { type: 'regular', amount: 1, unit: 'days' } }),
    digest({ variants: [digest()] }),
    inApp('x', { variants: [email()] }),
    inApp('x', { replyCallback: { active: true } }),
  )
  assert.deepEqual(paths(errors), [
    'steps.0.metadata',
    'steps.1.variants.0',
    'steps.2.variants.0.template.type',
    'steps.3.replyCallback.url',
  ])
})

const doc = JSON.stringify({ type: 'doc', content: [{ type: 'paragraph' }] })

test('what only /v2/workflows can say is refused, not passed over, and so are rules that cannot be followed', async () => {
  const errors = await withSteps(
    inApp('x', { skip: { nonsense: [1, 1] }, controlValues: { body: 'x' } }),
    inApp('x', { template: { type: 'in_app', content: 'x', controlValues: { body: 'x' } } }),
    inApp('x', { variants: [inApp('y', { filters: [condition('a')], controlValues: { body: 'x' } })] }),
    inApp(doc),
    { template: { type: 'email', subject: 'x', content: `\n ${doc}` } },
  )
  assert.deepEqual(paths(errors), [
    'steps.0.controlValues',
    'steps.0.skip.nonsense',
    'steps.1.template.controlValues',
    'steps.2.variants.0.controlValues',
    'steps.3.template.content',
    'steps.4.template.content',
  ])
  assert.match(errors['steps.0.controlValues'] ?? '', /\/v2\/workflows/)
  assert.match(errors['steps.4.template.content'] ?? '', /block editor/)
})

test('members of version 2 that say nothing, and texts that only look like a document, are fine', async () => {
  await create(app, {
    name: 'x',
    steps: [
      inApp('x', { skip: null, controlValues: {} }),
      inApp('{"type":"order"}'),
      inApp('{{ payload.doc }}'),
      inApp('{"type":"doc"'),
    ],
  })
})

test('a layout that there is not is refused; no layout, and none in particular, are not', async () => {
  const mail = (layout: object) => ({ template: { ...email().template, ...layout } })
  const errors = await withSteps(mail({ layoutId: 'main' }), mail({ _layoutId: 'main' }))
  assert.deepEqual(paths(errors), ['steps.0.template.layoutId', 'steps.1.template.layoutId'])
  const steps = [
    mail({ layoutId: null }),
    mail({ layoutId: 'none' }),
    mail({ layoutId: '' }),
    mail({ _layoutId: null }),
  ]
  await create(app, { name: 'x', steps })
})

test('a name of blanks is refused, at creation and at a change', async () => {
  assert.match((await refused(app, { name: ' \u00a0 ' }))['name'] ?? '', /blank/)
  const made = await create(app, { name: ' x ' })
  const changed = await app.call('PATCH', `/v1/workflows/${made._id}`, { body: { name: '  ' } })
  assert.deepEqual(paths(refusals(changed)), ['name'])
})

test('a variant without conditions is refused: it would never be chosen', async () => {
  const errors = await withSteps(inApp('x', { variants: [inApp('y', { filters: [condition('a')] }), inApp('z')] }))
  assert.deepEqual(paths(errors), ['steps.0.variants.1.filters'])
})

test('two buttons of one type, and a button that leads nowhere, are refused', async () => {
  const buttons = (...types: string[]) => ({
    template: {
      type: 'in_app',
      content: 'x',
      cta: { action: { buttons: types.map((type) => ({ type, content: 'x' })) } },
    },
  })
  const blocks = (...content: Json[]) => ({ template: { type: 'email', subject: 'x', contentType: 'editor', content } })
  const errors = await withSteps(
    buttons('primary', 'secondary'),
    buttons('secondary', 'secondary'),
    blocks(
      { type: 'text', content: 'x' },
      { type: 'button', content: 'x' },
      { type: 'button', content: 'x', url: ' ' },
      { type: 'button', content: 'x', url: '{{ payload.url }}' },
    ),
  )
  assert.deepEqual(paths(errors), [
    'steps.1.template.cta.action.buttons.1.type',
    'steps.2.template.content.1.url',
    'steps.2.template.content.2.url',
  ])
})

test('a condition on a range needs two bounds, unless a template gives them', async () => {
  const between = (value: string, operator = 'BETWEEN') => {
    const { children, ...filter } = condition(value)
    return { ...filter, children: [{ ...children[0], operator }] }
  }
  const good = ['1,2', '["a","b"]', '{{ payload.range }}', '{% if a %}1,2{% endif %}']
  const bad = ['', '1', '1,2,3', '["a"]', '[1,null]']
  await create(app, { name: 'x', steps: [inApp('x', { filters: good.map((value) => between(value)) })] })
  const filters = [...bad.map((value) => between(value)), between('1', 'NOT_BETWEEN'), between('1', 'EQUAL')]
  assert.deepEqual(
    paths(await withSteps(inApp('x', { filters }))),
    [0, 1, 2, 3, 4, 5].map((index) => `steps.0.filters.${index}.children.0.value`),
  )
})

test('an active reply callback leads to a public address', async () => {
  const reply = (url: string, active = true) => inApp('x', { replyCallback: { active, url } })
  const closed = [
    'http://127.0.0.1/x',
    'http://2130706433/',
    'https://[::1]/',
    'http://10.1.2.3:8080/',
    'http://169.254.169.254/latest',
    'http://metadata.google.internal/',
    'http://localhost:3000/',
  ]
  assert.deepEqual(
    paths(await withSteps(...closed.map((url) => reply(url)))),
    closed.map((_, index) => `steps.${index}.replyCallback.url`),
  )
  await create(app, { name: 'x', steps: [reply('https://example.com/x'), reply('http://127.0.0.1/', false)] })
})

test('a delay has no settings of a digest, nor a digest those of a delay', async () => {
  const regular = { type: 'regular', amount: 1, unit: 'days' }
  const errors = await withSteps(
    delay({ metadata: { ...regular, digestKey: 'a', backoff: true, timed: { atTime: '09:00' } } }),
    digest({ metadata: { ...regular, delayPath: 'at' } }),
  )
  assert.deepEqual(paths(errors), [
    'steps.0.metadata.backoff',
    'steps.0.metadata.digestKey',
    'steps.0.metadata.timed',
    'steps.1.metadata.delayPath',
  ])
  await create(app, { name: 'x', steps: [delay({ metadata: { ...regular, digestKey: '', backoff: false } })] })
})

test('what does not fit the schema is named by its path, all at once', async () => {
  const errors = await refused(app, {
    name: '',
    description: 'x'.repeat(1001),
    tags: ['a'.repeat(65)],
    severity: 'urgent',
    preferenceSettings: { email: 'yes' },
    steps: [
      { template: { type: 5 } },
      {},
      inApp('x', { filters: [{ children: [{ field: 'a', value: 'b', operator: 'IS', on: 'nobody' }] }] }),
      delay({ metadata: { type: 'sometimes', unit: 'years' } }),
      inApp('x', { replyCallback: { url: 'ftp://example.com' } }),
    ],
  })
  assert.deepEqual(paths(errors), [
    'description',
    'name',
    'preferenceSettings.email',
    'severity',
    'steps.0.template.type',
    'steps.1.template',
    'steps.2.filters.0.children.0.on',
    'steps.2.filters.0.children.0.operator',
    'steps.3.metadata.type',
    'steps.3.metadata.unit',
    'steps.4.replyCallback.url',
    'tags.0',
  ])
})

test('there is a limit on everything', async () => {
  const tooMany: readonly [string, Json][] = [
    ['steps', { steps: Array.from({ length: 51 }, () => inApp('x')) }],
    ['steps.0.variants', { steps: [inApp('x', { variants: Array.from({ length: 11 }, () => inApp('x')) })] }],
    ['steps.0.filters', { steps: [inApp('x', { filters: Array.from({ length: 21 }, () => condition('x')) })] }],
    ['steps.0.template.subject', { steps: [email('x'.repeat(4097))] }],
    ['steps.0.template.content', { steps: [inApp('x'.repeat(256 * 1024 + 1))] }],
    ['tags', { tags: Array.from({ length: 17 }, (_, index) => `t${index}`) }],
    ['name', { name: 'x'.repeat(256) }],
    ['data', { data: { text: 'x'.repeat(64 * 1024) } }],
    ['payloadSchema', { payloadSchema: { description: 'x'.repeat(64 * 1024) } }],
    [
      'steps.0.template.data',
      { steps: [{ template: { type: 'in_app', content: 'x', data: { a: 'x'.repeat(64 * 1024) } } }] },
    ],
    ['steps', { steps: Array.from({ length: 10 }, () => inApp('x'.repeat(60 * 1024))) }],
  ]
  for (const [path, body] of tooMany) {
    const errors = await refused(app, { name: 'x', ...body })
    assert.ok(path in errors, `${path}: ${JSON.stringify(errors)}`)
  }
  await create(app, { name: 'x'.repeat(255), steps: Array.from({ length: 50 }, () => inApp('x')) })
})

test('a payload schema that is none is refused, naming where; one that leads elsewhere too', async () => {
  const cases: readonly [string, Json][] = [
    ['payloadSchema.properties.total.type', { properties: { total: { type: 'text' } } }],
    ['payloadSchema.properties.a.$ref', { properties: { a: { $ref: 'https://example.com/schema.json' } } }],
    ['payloadSchema.$schema', { $schema: 'http://json-schema.org/draft-03/schema#' }],
    ['payloadSchema', 'text'],
    ['payloadSchema.properties.a.pattern', { properties: { a: { pattern: '^(?=a)(a+)+$' } } }],
    ['payloadSchema.patternProperties', { patternProperties: { '(a)\\1': { type: 'string' } } }],
  ]
  for (const [path, payloadSchema] of cases) {
    assert.deepEqual(paths(await refused(app, { name: 'x', payloadSchema })), [path])
  }
})

test('mistakes of steps, schema and data are reported together', async () => {
  const errors = await refused(app, {
    name: 'x',
    payloadSchema: { type: 'nothing' },
    data: { text: 'x'.repeat(64 * 1024) },
    steps: [
      inApp('{{ a', { _id: 'a' }),
      { template: { type: 'sms' }, _parentId: 'a' },
      inApp('b', { _parentId: 'nobody' }),
    ],
  })
  assert.deepEqual(paths(errors), [
    'data',
    'payloadSchema.type',
    'steps.0.template.content',
    'steps.1.template.content',
    'steps.2._parentId',
  ])
})

test('a change is checked as a creation is, and a refused one changes nothing', async () => {
  const made = await create(app, { name: 'Kept', steps: [inApp('kept')] })
  const path = `/v1/workflows/${made._id}`
  const bad = { name: 'y', steps: [inApp('{{ a')] }
  for (const method of ['PUT', 'PATCH']) {
    assert.deepEqual(paths(refusals(await app.call(method, path, { body: bad }))), ['steps.0.template.content'])
  }
  assert.deepEqual((await app.call('GET', path)).body, made)
})

const junk: readonly Json[] = [
  null,
  0,
  -1,
  1e308,
  true,
  '',
  'a',
  '{{',
  '{% for i in (1..1000000000) %}{% endfor %}',
  '{% include "x" %}',
  '__proto__'.slice(0, 5),
  [],
  [null],
  {},
  { type: 'in_app' },
  { type: 'timed', amount: 1, unit: 'months', timed: { monthDays: ['99'], monthlyType: 'on' } },
  'x'.repeat(5000),
  ['in_app', 'email', 'digest', 'delay'],
]

/** Puts junk into a place of a value, at any depth. */
function spoilt(random: ReturnType<typeof createRandom>, value: Json): Json {
  if (random.chance(0.25) || typeof value !== 'object' || value === null) return random.oneOf(junk)
  const keys = Object.keys(value)
  if (keys.length === 0 || random.chance(0.1))
    return { ...value, [random.oneOf(['type', 'a', 'constructor'])]: random.oneOf(junk) }
  const key = random.oneOf(keys)
  const copy = Array.isArray(value) ? [...value] : { ...value }
  copy[key] = spoilt(random, value[key])
  return copy
}

test('junk anywhere in a workflow is answered with success or with 422, never with a fault', async (t) => {
  const seed = fuzzSeed()
  t.diagnostic(`seed ${seed}: repeat with POSTHORN_FUZZ_SEED=${seed}`)
  const random = createRandom(seed)
  const good = {
    name: 'Junk',
    tags: ['a'],
    data: { a: 1 },
    payloadSchema: { properties: { a: { type: 'string', default: 'b' } } },
    preferenceSettings: { email: true },
    steps: [
      inApp('x', {
        filters: [condition('{{ a }}')],
        variants: [inApp('y', { filters: [condition('b')] })],
        template: { type: 'in_app', content: 'x', cta: { action: { buttons: [{ type: 'primary', content: 'x' }] } } },
      }),
      digest({
        metadata: { type: 'timed', amount: 1, unit: 'weeks', timed: { atTime: '09:00', weekDays: ['monday'] } },
      }),
      delay({ metadata: { type: 'scheduled', delayPath: 'a.b' } }),
      { template: { type: 'email', subject: 'x', contentType: 'editor', content: [{ type: 'text', content: 'x' }] } },
    ],
  }
  const statuses = new Map<number, number>()
  for (let round = 0; round < fuzzRounds(150); round += 1) {
    let body: Json = good
    for (let spoils = 0; spoils <= random.integer(3); spoils += 1) body = spoilt(random, body)
    if (typeof body !== 'object' || body === null) continue
    const reply = await app.call('POST', '/v1/workflows', { body })
    assert.ok([201, 400, 422].includes(reply.status), `${reply.status} ${JSON.stringify(body)} ${reply.text}`)
    statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1)
  }
  assert.ok((statuses.get(201) ?? 0) > 1 && (statuses.get(422) ?? 0) > 20, JSON.stringify([...statuses]))
  const list = await app.call('GET', '/v1/workflows?limit=100')
  assert.equal(list.status, 200, list.text)
})

// Whatever is said in API v2 reads as it was said: random workflows, saved, read, and saved as they were read.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { channels } from '../../src/domain/delivery/integration.ts'
import { linkTargets, severities, timeUnits } from '../../src/domain/workflows/workflow.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import type { Random } from '../support/random.ts'
import { createRandom, fuzzRounds, fuzzSeed } from '../support/random.ts'
import { currentVersion } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const words = ['Hello', '{{ payload.name }}', 'ß', '<b>x</b>', '{"a": 1}', '[1, 2]', "it's", '  ']
const text = (random: Random): string => `${random.oneOf(words)} ${random.oneOf(words)} x`
const some = (random: Random, name: string, value: () => unknown): object =>
  random.chance(0.5) ? { [name]: value() } : {}
const duration = (random: Random): object => ({
  amount: 1 + random.integer(10),
  unit: random.oneOf(timeUnits.slice(0, 3)),
})
const link = (random: Random): object => ({
  url: random.oneOf(['/x', 'https://example.com/{{ payload.id }}']),
  ...some(random, 'target', () => random.oneOf(linkTargets)),
})
const action = (random: Random): object => ({ label: text(random), ...some(random, 'redirect', () => link(random)) })

const controls: Record<string, (random: Random) => object> = {
  email: (random) => ({
    subject: text(random),
    ...(random.chance(0.7)
      ? { body: text(random), editorType: 'html' }
      : { body: JSON.stringify([{ type: 'text', content: text(random) }]), editorType: 'block' }),
    ...some(random, 'layoutId', () => random.oneOf([null, 'none'])),
    ...some(random, 'from', () =>
      random.oneOf([{ email: 'a@example.com' }, { name: 'A' }, { email: 'a@example.com', name: '{{ payload.a }}' }]),
    ),
    ...some(random, 'replyTo', () => 'r@example.com'),
    ...some(random, 'preheader', () => text(random)),
    ...some(random, 'disableOutputSanitization', () => random.chance(0.5)),
  }),
  in_app: (random) => ({
    body: text(random),
    ...some(random, 'subject', () => text(random)),
    ...some(random, 'avatar', () => 'https://example.com/{{ payload.a }}.png'),
    ...some(random, 'primaryAction', () => action(random)),
    ...some(random, 'secondaryAction', () => action(random)),
    ...some(random, 'redirect', () => link(random)),
    ...some(random, 'data', () => ({ a: text(random), b: [1, null, { c: true }] })),
    ...some(random, 'disableOutputSanitization', () => random.chance(0.5)),
  }),
  sms: (random) => ({ body: text(random) }),
  chat: (random) => ({ body: text(random) }),
  push: (random) => ({ body: text(random), ...some(random, 'subject', () => text(random)) }),
  digest: (random) => ({
    ...(random.chance(0.6)
      ? { type: 'regular', ...duration(random), ...some(random, 'lookBackWindow', () => duration(random)) }
      : { type: 'timed', cron: '30 9 * * 1-5' }),
    ...some(random, 'digestKey', () => 'order.id'),
    ...some(random, 'extendToSchedule', () => random.chance(0.5)),
  }),
  delay: (random) => ({
    ...random.oneOf([
      { type: 'regular', ...duration(random) },
      { type: 'timed', cron: '0 8 1 * *' },
      { type: 'dynamic', dynamicKey: 'order.at' },
      { type: 'scheduled', delayPath: 'at' },
    ]),
    ...some(random, 'extendToSchedule', () => random.chance(0.5)),
  }),
  throttle: (random) => ({
    ...random.oneOf([
      { type: 'fixed', amount: 1 + random.integer(9), unit: 'hours' },
      { type: 'dynamic', dynamicKey: 'until' },
    ]),
    ...some(random, 'threshold', () => 1 + random.integer(5)),
    ...some(random, 'throttleKey', () => 'order.id'),
  }),
  custom: (random) => ({
    type: 'http',
    url: 'https://example.com/{{ payload.id }}',
    ...some(random, 'method', () => random.oneOf(['POST', 'PUT', 'PATCH'])),
    ...some(random, 'headers', () => ({ 'x-a': text(random).trim() })),
    ...some(random, 'body', () => ({ a: text(random), b: { c: [1] } })),
    ...some(random, 'timeoutMs', () => 1_000 + random.integer(9_000)),
    ...some(random, 'continueOnFailure', () => random.chance(0.5)),
  }),
}

const preference = (random: Random): object => ({
  all: { enabled: random.chance(0.5), readOnly: random.chance(0.5) },
  channels: Object.fromEntries(channels.map((channel) => [channel, { enabled: random.chance(0.5) }])),
})

function workflow(random: Random, workflowId: string): Json {
  const steps = Array.from({ length: 1 + random.integer(6) }, (_, index) => {
    const type = random.oneOf(Object.keys(controls))
    const skip = some(random, 'skip', () => ({ '==': [{ var: 'payload.plan' }, text(random)] }))
    const controlValues = { ...controls[type]?.(random), ...skip }
    return { name: `Step ${index}`, stepId: `s${index}`, type, controlValues }
  })
  return {
    workflowId,
    name: text(random).trim(),
    description: random.oneOf(['', 'Something']),
    tags: random.oneOf([[], ['a', 'b']]),
    active: random.chance(0.5),
    severity: random.oneOf(severities),
    preferences: { user: random.chance(0.5) ? preference(random) : null, workflow: preference(random) },
    ...some(random, 'payloadSchema', () => ({ type: 'object', properties: { id: { type: 'string' } } })),
    validatePayload: random.chance(0.5),
    isTranslationEnabled: random.chance(0.5),
    steps,
  }
}

/** What was read, as it would be said. */
function said(read: Json): Json {
  const { preferences, steps } = read
  const members = ['workflowId', 'name', 'description', 'tags', 'active', 'severity', 'payloadSchema'] as const
  return {
    ...Object.fromEntries(members.flatMap((name) => (read[name] === undefined ? [] : [[name, read[name]]]))),
    preferences: { user: preferences.user, workflow: preferences.default },
    validatePayload: read.validatePayload,
    isTranslationEnabled: read.isTranslationEnabled,
    steps: steps.map(({ name, stepId, type, controlValues }: Json) => ({ name, stepId, type, controlValues })),
  }
}

test('random workflows read as they were said, and saving what was read changes nothing', async () => {
  const seed = fuzzSeed()
  const random = createRandom(seed)
  for (let round = 0; round < fuzzRounds(25); round += 1) {
    const given = workflow(random, `round-${round}`)
    const place = `seed ${seed}, round ${round}`
    const made = await app.call('POST', '/v2/workflows', { body: given })
    assert.equal(made.status, 201, `${place}: ${made.text} for ${JSON.stringify(given)}`)
    const read = (await app.call('GET', `/v2/workflows/${made.body.slug}`)).body
    assert.deepEqual(said(read), given, place)
    const version = await currentVersion(app, made.body._id)
    const again = await app.call('PUT', `/v2/workflows/${made.body._id}`, { body: said(read) })
    assert.equal(again.status, 200, `${place}: ${again.text}`)
    assert.deepEqual(said(again.body), given, place)
    assert.equal(await currentVersion(app, made.body._id), version, `${place}: another version`)
    const first = (await app.call('GET', `/v1/workflows/${made.body._id}`)).body
    const back = await app.call('PUT', `/v1/workflows/${made.body._id}`, { body: first })
    assert.equal(back.status, 200, `${place}: ${back.text}`)
    const after = said((await app.call('GET', `/v2/workflows/${made.body._id}`)).body)
    assert.deepEqual(after.steps, given.steps, `${place}: through API v1`)
  }
})

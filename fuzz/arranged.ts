// Whole bodies that get past validation with what hurts in the places where it is worked on: large workflows, layouts and
// translations, events for many, and logic, conditions and schemas that belong to each other.
import type { Random } from '../test/support/random.ts'
import type { Operation } from './document.ts'
import { html, templates } from './hostile-texts.ts'
import { hostileLogic, hostilePayload, hostileSchema } from './hostile-values.ts'
import type { Maker } from './values.ts'

const contentMax = 200_000
/** What a template of one text may hold of outputs, and a little more. */
const codes = [
  '{{a}}',
  '{{ payload.a | upcase }}',
  '{% if a %}b{% endif %}',
  '{% assign a = 1 %}',
  '{{{a}}}',
  '{{ "k" | t }}',
]

/** Undefined where nothing is arranged for the operation. */
export function arrangedBody(maker: Maker, { path, method }: Operation): unknown {
  const { random, size } = maker
  const make = bodies[`${method} ${path}`]
  if (make !== undefined) return make(maker)
  return /\/preview$|\/test$/.test(path) ? { to: 'ada', payload: hostilePayload(random, size) } : undefined
}

const bodies: Readonly<Record<string, (maker: Maker) => unknown>> = {
  'POST /v1/workflows': (maker) => workflowOf(maker),
  'POST /v2/workflows': (maker) => workflowV2Of(maker),
  'POST /v1/events/trigger': (maker) => eventOf(maker),
  'POST /v1/events/trigger/bulk': (maker) => ({ events: listOf(maker.random, 6, () => eventOf(maker)) }),
  'POST /v1/events/simulate': (maker) =>
    maker.random.chance(0.6)
      ? { to: 'ada', payload: hostilePayload(maker.random, maker.size), workflow: workflowOf(maker) }
      : eventOf(maker),
  'POST /v2/workflows/{workflowId}/step/{stepId}/preview': (maker) => {
    const { random, size } = maker
    const subject = wordsOf(maker).slice(0, 4_000)
    const controlValues = { body: wordsOf(maker), subject, skip: hostileLogic(random, size) }
    return { controlValues, previewPayload: { payload: hostilePayload(random, size) } }
  },
  'POST /v1/layouts': (maker) => ({
    name: `layout-${maker.random.integer(100)}`,
    content: `${wordsOf(maker).slice(0, 90_000)}{{{body}}}`,
    isDefault: maker.random.chance(0.3),
  }),
  'PUT /v1/translations/{locale}': ({ random, size }) => {
    const text = random.oneOf([
      random.oneOf(codes).repeat(1 + random.integer(50)),
      '{name}'.repeat(50),
      random.oneOf(templates),
    ])
    return { texts: Object.fromEntries(listOf(random, Math.min(size, 5_000), (at) => [`k${at}`, text])) }
  },
  'POST /v1/subscribers/bulk': ({ random, size }) => ({
    subscribers: listOf(random, 500, (at) => ({
      subscriberId: `many-${at}`,
      data: { a: 'x'.repeat(random.integer(Math.min(size, 1_000))) },
    })),
  }),
}

function listOf<Item>(random: Random, most: number, make: (at: number) => Item): Item[] {
  return Array.from({ length: 1 + random.integer(most) }, (_, at) => make(at))
}

function wordsOf({ random, size }: Maker): string {
  const kind = random.integer(10)
  if (kind < 4) return `${random.oneOf(templates)}${html(random, size)}`.slice(0, contentMax)
  if (kind < 6) return random.oneOf(codes).repeat(1 + random.integer(Math.min(size, 3_100)))
  return random.oneOf(templates)
}

function stepOf(maker: Maker): object {
  const { random, size } = maker
  const type = random.oneOf(['in_app', 'email', 'sms', 'chat', 'push'])
  const mail = type === 'email' ? { contentType: 'customHtml', subject: 'x' } : {}
  return {
    name: random.oneOf(['bell', 'mail-it']),
    template: { type, content: wordsOf(maker), ...(type === 'push' ? { title: 'x' } : {}), ...mail },
    ...(random.chance(0.3) ? { skip: hostileLogic(random, size) } : {}),
    ...(random.chance(0.3) ? { filters: listOf(random, 3, () => filterOf(random)) } : {}),
  }
}

const filterOf = (random: Random): object => ({
  isNegated: false,
  type: 'GROUP',
  value: random.oneOf(['AND', 'OR']),
  children: listOf(random, 50, () => ({
    on: 'payload',
    field: random.oneOf(['a', 'long', 'items', 'o']),
    operator: random.oneOf(['LIKE', 'NOT_LIKE', 'ANY_IN', 'ALL_IN', 'EQUAL', 'IN', 'NOT_IN', 'BETWEEN']),
    value: random.oneOf(['{{ payload.long }}', '{{ payload.items }}', 'a', 'a%'.repeat(100)]),
  })),
})

function workflowOf(maker: Maker): object {
  const { random, size } = maker
  const stepsMost = random.chance(0.1) ? 50 : 2
  // Where there are many steps, each can be as large as the body leaves room for.
  const within = stepsMost === 50 ? { ...maker, size: Math.min(size * 20, 2_900) } : maker
  return {
    name: `made-${random.integer(300)}`,
    active: true,
    ...(random.chance(0.4) ? { payloadSchema: hostileSchema(random, size) } : {}),
    steps: listOf(random, stepsMost, () => stepOf(within)),
  }
}

function workflowV2Of(maker: Maker): object {
  const { random, size } = maker
  const step = () => ({
    name: random.oneOf(['bell', 'mail-it']),
    type: random.oneOf(['in_app', 'sms', 'chat', 'email']),
    controlValues: { body: wordsOf(maker), subject: 'x', skip: hostileLogic(random, size) },
  })
  const name = `made-v2-${random.integer(300)}`
  return { workflowId: name, name, active: true, steps: listOf(random, random.chance(0.1) ? 50 : 3, step) }
}

function eventOf({ random, known, size }: Maker): object {
  const to = random.chance(0.1)
    ? listOf(random, 150, (at) => ({ subscriberId: `many-${at}`, data: { a: at } }))
    : known.idFor(random, 'subscriber')
  return { name: known.idFor(random, 'workflow'), to, payload: hostilePayload(random, size) }
}

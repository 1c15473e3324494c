// The answer of simulating as JSON: all of it, whatever was written before it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  SimulatedIntegration,
  SimulatedMessage,
  SimulatedRecipient,
  SimulatedStep,
  Simulation,
} from '../domain/simulation.ts'
import { simulationJson } from './simulation-json.ts'

const integration: SimulatedIntegration = { _id: 'i', identifier: 'main', providerId: 'p', channel: 'email' }

/** With every member there is: one that is new must be named here, and so be written. */
const message: Required<SimulatedMessage> = {
  channel: 'email',
  integration,
  errorText: 'a "quoted" text',
  contentOmitted: true,
  subject: 's\n',
  title: 't',
  content: '<p class="x">ü</p>',
  email: 'a@example.com',
  phone: '+49',
  cta: { type: 'redirect' },
  actor: { type: 'none' },
  data: { a: [1, null, undefined] },
  envelope: { to: ['a@example.com'], html: '<p class="x">ü</p>', text: 'ü', id: undefined },
}
const step: Required<SimulatedStep> = {
  stepId: 'step',
  name: 'Mail "1"',
  type: 'email',
  outcome: 'run',
  status: 'completed',
  sentence: 'Would be sent.',
  reasons: [{ code: 'messageCreated', at: '2026-01-02T03:04:05.678Z', sentence: 'x', data: { b: 1 } }],
  beginsAt: '2026-01-02T03:04:05.678Z',
  endsAt: '2026-01-02T03:04:06.678Z',
  waits: ['2026-01-02T03:04:06.678Z'],
  window: { opened: true, until: '2026-01-02T03:04:06.678Z', events: 2, transactionIds: ['t'] },
  throttle: { count: 1, threshold: 2, until: '2026-01-02T03:04:06.678Z' },
  asks: ['https://x.example/'],
  messages: [message],
}
const recipient: Required<SimulatedRecipient> = {
  subscriberId: 'a"b',
  isNew: true,
  topics: ['t'],
  timezone: 'Europe/Berlin',
  endsAt: '2026-01-02T03:04:06.678Z',
  steps: [step],
}
const simulation: Required<Simulation> = {
  status: 'processed',
  error: ['e'],
  transactionId: 't',
  at: '2026-01-02T03:04:05.678Z',
  warnings: ['w'],
  workflow: { identifier: 'w', name: 'W', isSaved: false },
  assumptions: ['a'],
  recipientCount: 1,
  recipientCountCapped: false,
  recipients: [recipient],
  dropped: [{ subscriberId: 'd', reason: 'actor' }],
}

const isWritten = (value: Simulation): void =>
  assert.deepEqual(JSON.parse(simulationJson(value)), JSON.parse(JSON.stringify(value)))

test('every member is written', () => {
  isWritten(simulation)
  isWritten({ ...simulation, recipients: [] })
})

/** Each member by itself: left out, or another than before. */
function variantsOf<Shape extends object>(whole: Required<Shape>, others: Readonly<Partial<Shape>>): Shape[] {
  const names = Object.keys(whole) as (keyof Shape)[]
  const without = names.flatMap((name) => (name in others ? [] : [{ ...whole, [name]: undefined } as unknown as Shape]))
  return [
    ...without,
    ...Object.entries(others).map(([name, value]) => ({ ...whole, [name]: value }) as unknown as Shape),
  ]
}

test('nothing is taken from a step, a message or a recipient before that is not the same', () => {
  const messages = variantsOf<SimulatedMessage>(message, { channel: 'sms', content: 'other', subject: 'other' })
  const plain: SimulatedStep = {
    ...step,
    waits: [],
    asks: [],
    window: undefined as never,
    throttle: undefined as never,
  }
  const changes: Partial<SimulatedStep> = {
    ...{ stepId: 'other', name: 'other', sentence: 'other', type: 'sms', outcome: 'skip', status: 'skipped' },
    ...{ reasons: [], waits: ['2026-01-02T03:04:09.678Z'], asks: ['https://y.example/'], messages },
  }
  const ends = { beginsAt: '2026-01-02T03:04:01.678Z', endsAt: '2026-01-02T03:04:02.678Z' }
  for (const base of [step, plain]) {
    for (const variant of variantsOf<SimulatedStep>(base as Required<SimulatedStep>, { ...changes, ...ends })) {
      isWritten({ ...simulation, recipients: [base, variant, base].map((one) => ({ ...recipient, steps: [one] })) })
      isWritten({ ...simulation, recipients: [{ ...recipient, steps: [base, variant, base, base] }] })
    }
  }
  const recipients = variantsOf<SimulatedRecipient>(recipient, {
    ...{ subscriberId: 'b', isNew: false, topics: [], timezone: null, endsAt: '2026-01-02T03:04:09.678Z', steps: [] },
  })
  isWritten({ ...simulation, recipients })
})

test('content without an envelope, blocks, and HTML that is not the content are written as they are', () => {
  const content = [{ type: 'text', content: 'x' }] as const
  const envelopes = [{}, { html: 'other' }, { html: undefined }, { html: content, to: [] }, { html: content }]
  const messages = envelopes.map((envelope) => ({ channel: 'email', content, envelope }) as const)
  isWritten({ ...simulation, recipients: [{ ...recipient, steps: [{ ...step, messages }] }] })
  isWritten({ ...simulation, recipients: [{ ...recipient, steps: [{ ...step, messages: [{ channel: 'sms' }] }] }] })
})

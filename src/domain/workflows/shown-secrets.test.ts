// What is struck out of a workflow for callers who may not see secrets, and what stays.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FilterPart, StepFilter } from '../conditions/condition.ts'
import type { Principal } from '../environment.ts'
import { callWithoutSecrets, shownTo } from './shown-secrets.ts'
import type { NotificationStep, StepVariant } from './workflow.ts'

const environment = { id: 'e', organizationId: 'o', name: 'Development' }
const principalWith = (...scopes: Principal['scopes'][number][]): Principal => ({
  environment,
  keyId: 'k',
  keyName: 'Key',
  scopes,
})

const asked = (url: string): FilterPart => ({
  on: 'webhook',
  webhookUrl: url,
  field: 'a',
  value: 'hush?',
  operator: 'EQUAL',
})
const compared: FilterPart = { on: 'payload', field: 'a?b', value: 'c?d', operator: 'EQUAL' }
const filterOf = (url: string): StepFilter => ({
  isNegated: false,
  type: 'GROUP',
  value: 'AND',
  children: [compared, asked(url)],
  moreChildren: [asked(url)],
})
const variantWith = (url: string, value: string): StepVariant => ({
  _id: 's',
  uuid: 's',
  _templateId: 't',
  active: true,
  shouldStopOnFail: false,
  template: { type: 'custom', content: 'Why? {{ a }}' },
  filters: [filterOf(url)],
  metadata: { type: 'http', url, headers: { Authorization: value, 'X-Key': value }, body: { a: 'b?c' } },
  replyCallback: { active: true, url },
})
const stepWith = (url: string, value: string): NotificationStep => ({
  ...variantWith(url, value),
  variants: [variantWith(url, value)],
})

const secret = 'https://api.example.com/hooks?token=hush'
const struckOut = 'https://api.example.com/hooks?[redacted]'

test('header values and queries are struck out wherever a step holds them, and nothing else is', () => {
  const whole = { name: 'x', steps: [stepWith(secret, 'Bearer hush')] }
  const expected = { name: 'x', steps: [stepWith(struckOut, '[redacted]')] }
  assert.deepEqual(shownTo(principalWith('read'), whole), expected)
  assert.deepEqual(shownTo(principalWith('read', 'trigger'), whole), expected)
})

test('whoever may do everything sees everything', () => {
  const whole = { steps: [stepWith(secret, 'Bearer hush')] }
  assert.equal(shownTo(principalWith('full'), whole), whole)
})

test('a step without headers, metadata or a callback gains none', () => {
  const { metadata: _metadata, replyCallback: _replyCallback, ...bare } = stepWith(secret, '')
  const steps = [{ ...bare, filters: [], variants: [] }]
  assert.deepEqual(shownTo(principalWith('read'), { steps }), { steps })
  const plain = { type: 'http', url: 'https://api.example.com/hooks' } as const
  const called = [{ ...bare, filters: [], variants: [], metadata: plain }]
  assert.deepEqual(shownTo(principalWith('read'), { steps: called }), { steps: called })
})

test('an address keeps what stands before its query', () => {
  const shown = (url: string): string => callWithoutSecrets({ url }).url
  assert.equal(
    shown('https://a.example.com/{{ payload.id }}?k={{ payload.k }}&t=hush'),
    'https://a.example.com/{{ payload.id }}?[redacted]',
  )
  assert.equal(shown('https://a.example.com/x'), 'https://a.example.com/x')
  assert.equal(shown('{{ payload.url }}'), '{{ payload.url }}')
  assert.equal(shown('{{ payload.url }}?'), '{{ payload.url }}?[redacted]')
})

test('tags and accounts, where secrets can stand too, are not reported', () => {
  const shown = (url: string): string => callWithoutSecrets({ url }).url
  assert.equal(shown("{% assign t = 'hush' %}https://a.example.com/?t={{ t }}"), '?[redacted]')
  assert.equal(shown('https://ada:hush@a.example.com/{{ x }}'), 'https://[redacted]@a.example.com/{{ x }}')
  assert.equal(shown('https://a.example.com/@ada'), 'https://a.example.com/@ada')
})

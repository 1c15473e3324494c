// Which layout an e-mail is put into.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sceneNow, stepWith } from '../../test/support/render-scene.ts'
import type { Layout } from '../domain/workflows/layout.ts'
import { emailLayoutsOf } from '../domain/workflows/layout.ts'
import type { EmailFrame } from '../domain/workflows/rendering.ts'
import { chooseFrame } from './email-layout.ts'

const layout = (identifier: string, isDefault = false): Layout => ({
  _id: `id-of-${identifier}`,
  _organizationId: 'o',
  _environmentId: 'e',
  _creatorId: 'k',
  identifier,
  name: identifier,
  description: '',
  channel: 'email',
  content: '{{{body}}}',
  contentType: 'customHtml',
  isDefault,
  isDeleted: false,
  createdAt: sceneNow.toISOString(),
  updatedAt: sceneNow.toISOString(),
})

const withDefault = emailLayoutsOf([layout('acme'), layout('house', true), layout('winter')])
const withoutDefault = emailLayoutsOf([layout('acme')])

function chosen(layoutId: string | null | undefined, overrides: object = {}, layouts = withDefault) {
  const step = stepWith({ type: 'email', subject: 's', ...(layoutId === undefined ? {} : { layoutId }) })
  const { frame, details } = chooseFrame(step, overrides as Record<string, unknown>, layouts, sceneNow)
  return [nameOf(frame), ...details.map(({ code }) => code)]
}

const nameOf = (frame: EmailFrame): string => (typeof frame === 'string' ? frame : frame.identifier)

test('a template that says nothing gets the environment’s default, or the built-in one', () => {
  assert.deepEqual(chosen(undefined), ['house'])
  assert.deepEqual(chosen(''), ['house'])
  assert.deepEqual(chosen(undefined, {}, withoutDefault), ['builtIn'])
  assert.deepEqual(chooseFrame(stepWith({ type: 'email' }), {}, undefined, sceneNow).frame, 'builtIn')
})

test('a template names a layout by id or by identifier, or wants none', () => {
  assert.deepEqual(chosen('acme'), ['acme'])
  assert.deepEqual(chosen('id-of-acme'), ['acme'])
  assert.deepEqual(chosen(null), ['none'])
  assert.deepEqual(chosen('none'), ['none'])
})

test('a layout that is not there is reported, and the default is used', () => {
  assert.deepEqual(chosen('absent'), ['house', 'layoutNotFound'])
  assert.deepEqual(chosen('absent', {}, withoutDefault), ['builtIn', 'layoutNotFound'])
  assert.deepEqual(chosen('acme', { layoutIdentifier: 'absent' }), ['house', 'layoutNotFound'])
  assert.deepEqual(chosen('acme', { layoutIdentifier: 7 }), ['house', 'layoutNotFound'])
})

test('a trigger’s word counts before the template’s: the step’s before the channel’s before the older one', () => {
  const channels = { email: { layoutId: 'winter' } }
  assert.deepEqual(chosen('acme', { layoutIdentifier: 'house' }), ['house', 'layoutSelected'])
  assert.deepEqual(chosen('acme', { channels, layoutIdentifier: 'house' }), ['winter', 'layoutSelected'])
  assert.deepEqual(chosen(null, { steps: { 'step-1': { layoutId: 'acme' } }, channels }), ['acme', 'layoutSelected'])
  assert.deepEqual(chosen('acme', { steps: { 'uuid-1': { layoutId: null } }, channels }), ['none'])
  assert.deepEqual(chosen('acme', { steps: { other: { layoutId: null } } }), ['acme'])
  assert.deepEqual(chosen('acme', { channels: { email: { layoutId: null } } }), ['none'])
})

// Plain texts out of templates.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshKey, renderError, sceneRenderer, scopeWith } from '../../test/support/render-scene.ts'
import type { StepTemplate } from '../domain/workflows/workflow.ts'

const rendered = (template: StepTemplate, payload: Record<string, unknown> = {}) =>
  sceneRenderer.text(freshKey(), template, scopeWith(payload))

test('nothing is escaped: a text is shown as it is', () => {
  const payload = { name: '<b>"Ann" & co</b>' }
  assert.deepEqual(rendered({ type: 'sms', content: 'Hi {{name}}' }, payload), { content: 'Hi <b>"Ann" & co</b>' })
  assert.deepEqual(rendered({ type: 'push', title: '{{name}}\n!', content: 'x' }, payload), {
    title: '<b>"Ann" & co</b> !',
    content: 'x',
  })
})

test('only push has a title; where it has none of its own, its subject is one', () => {
  assert.equal(rendered({ type: 'push', subject: 'S', content: 'x' }).title, 'S')
  assert.equal(rendered({ type: 'push', subject: 'S', title: 'T', content: 'x' }).title, 'T')
  assert.equal(rendered({ type: 'sms', title: 'T', content: 'x' }).title, undefined)
})

test('each channel has its bound, and defaults of variables are filled in', () => {
  const long = { text: 'x'.repeat(5_001) }
  for (const type of ['sms', 'push'] as const) {
    const { field, message } = renderError(() => rendered({ type, content: '{{text}}' }, long))
    assert.deepEqual([field, message], ['template.content', 'renders to more than 5000 characters'])
  }
  assert.equal(rendered({ type: 'chat', content: '{{text}}' }, long).content.length, 5_001)
  const variables = [{ name: 'who', defaultValue: 'you' }] as const
  assert.equal(rendered({ type: 'sms', content: 'Hi {{who}}', variables }).content, 'Hi you')
})

test('a mistake names its field, and blocks are no text', () => {
  assert.equal(renderError(() => rendered({ type: 'sms', content: '{{' })).field, 'template.content')
  assert.equal(renderError(() => rendered({ type: 'push', title: '{{', content: 'x' })).field, 'template.title')
  const blocks = [{ type: 'text', content: 'x' }] as const
  assert.equal(renderError(() => rendered({ type: 'chat', content: blocks })).field, 'template.content')
})

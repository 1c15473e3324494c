// What is reported about templates when a workflow is saved.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { templateMistakes } from './check.ts'

test('a good template has no mistakes', () => {
  assert.deepEqual(
    templateMistakes({
      type: 'email',
      subject: 'Hi {{ subscriber.firstName | default: "you" }}',
      preheader: '{% if x %}a{% endif %}',
      content: [
        { type: 'text', content: '{% for i in step.events %}{{ i.name | titlecase }}{% endfor %}' },
        { type: 'button', content: 'Go', url: '{{ url | default: "https://x.example" }}' },
      ],
    }),
    [],
  )
})

test('every text with a mistake is named with line and column', () => {
  const mistakes = templateMistakes({
    type: 'in_app',
    subject: '{{ x',
    content: 'a\nb {% if x %}',
    cta: {
      data: { url: '{{ x | nope }}' },
      action: { buttons: [{ type: 'primary', content: '{% what %}', resultContent: '{{ | }}' }] },
    },
    data: { a: ['fine', '{{ x | where_exp: "a", "b" }}'] },
  })
  assert.deepEqual(
    mistakes.map(({ path, message }) => [path, message.split(':')[0]]),
    [
      ['template.subject', 'line 1, column 1'],
      ['template.content', 'line 2, column 3'],
      ['template.cta.data.url', 'line 1, column 1'],
      ['template.cta.action.buttons[0].content', 'line 1, column 1'],
      ['template.cta.action.buttons[0].resultContent', 'line 1, column 4'],
      ['template.data.a[1]', 'line 1, column 1'],
    ],
  )
  assert.equal(mistakes[0]?.message, 'line 1, column 1: output "{{ x" not closed')
})

test('blocks are named by their place', () => {
  const content = [
    { type: 'text' as const, content: 'fine' },
    { type: 'button' as const, content: '{{ a | b }}', url: '{% c %}' },
  ]
  assert.deepEqual(
    templateMistakes({ type: 'email', subject: 's', content }).map(({ path }) => path),
    ['template.content[1].content', 'template.content[1].url'],
  )
})

test('an unknown filter in a cycle is found, though LiquidJS would not look', () => {
  assert.match(
    templateMistakes({ type: 'in_app', content: '{% cycle "a" | nope, "b" %}' })[0]?.message ?? '',
    /unknown filter "nope"/,
  )
})

test('an address that runs a script is reported when it can be known', () => {
  const mistakesOf = (url: string) => templateMistakes({ type: 'in_app', content: 'x', cta: { data: { url } } })
  for (const url of ['javascript:alert(1)', 'javascript:{{x}}', 'data:text/html,x'])
    assert.equal(mistakesOf(url)[0]?.path, 'template.cta.data.url')
  for (const url of ['{{x}}', 'https://{{x}}', '/a', '{{ a | default: "b" }}', ''])
    assert.deepEqual(mistakesOf(url), [])
})

test('what is too large is reported without reading it', () => {
  const block = { type: 'text', content: '{{ x | nope }}' } as const
  assert.deepEqual(
    templateMistakes({ type: 'email', subject: 's', content: Array.from({ length: 201 }, () => block) }),
    [{ path: 'template.content', message: 'has 201 blocks; at most 200 are allowed' }],
  )
  assert.match(
    templateMistakes({ type: 'email', content: `{{x}}${'a'.repeat(250_000)}` })[0]?.message ?? '',
    /at most 250000/,
  )
  let data: Record<string, unknown> = {}
  for (let depth = 0; depth < 5_000; depth += 1) data = { data }
  assert.deepEqual(templateMistakes({ type: 'in_app', content: 'x', data }), [
    { path: 'template.data', message: 'is nested more than 10 levels deep' },
  ])
})

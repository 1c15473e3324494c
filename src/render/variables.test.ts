// The variables that templates name.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { variablesOf } from './variables.ts'

test('payload members are notified by their dotted names, each once, in order', () => {
  const { variables } = variablesOf(
    [
      { type: 'email', subject: '{{ zeta }} {{payload.order.id}}', content: '{{order.id}} {{ items[0].name }}' },
      {
        type: 'in_app',
        content: '{{ payload }}',
        cta: { data: { url: '{{ url }}' } },
        data: { a: '{{ extra.note }}' },
      },
    ],
    ['{{payload.limit}}', 'plain'],
  )
  assert.deepEqual(variables, ['extra.note', 'items', 'limit', 'order.id', 'url', 'zeta'])
})

test('members of the subscriber are distinguished, other roots not at all', () => {
  assert.deepEqual(
    variablesOf(
      [
        {
          type: 'email',
          subject: '{{subscriber.firstName}} {{subscriber.data.plan}} {{subscriber.firstName}}',
          content:
            '{{actor.email}} {{tenant.name}} {{step.total_count}} {{context.a.id}} {{workflow.name}} {{subscriber}}',
        },
      ],
      [],
    ),
    { variables: [], subscriberVariables: ['data.plan', 'firstName'] },
  )
})

test('what a template assigns, captures or loops with is its own', () => {
  const content =
    '{% assign a = payload.given %}{{ a }}{% capture b %}x{% endcapture %}{{ b }}{% for i in list %}{{ i.name }}{{ forloop.index }}{{ outer }}{% endfor %}{% for j in (1..count) %}{{ j }}{% endfor %}{{ 1 | plus: more }}{% if cond == other.x %}{% endif %}'
  assert.deepEqual(variablesOf([{ type: 'in_app', content }], []).variables, [
    'cond',
    'count',
    'given',
    'list',
    'more',
    'other.x',
    'outer',
  ])
})

test('a text that cannot be parsed names nothing and hides no other', () => {
  assert.deepEqual(variablesOf([{ type: 'in_app', content: '{{ a', subject: '{{ b }}' }], []).variables, ['b'])
})

// Templates: variables, escaping, and what a template cannot reach.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshKey, html, plain, renderError, sceneRenderer, scopeWith } from '../../test/support/render-scene.ts'

test('payload members are found at the top level and under payload, and missing ones print nothing', () => {
  const payload = { order: { id: 7, lines: [{ name: 'tea' }] }, 'odd name': 'x' }
  assert.equal(plain('{{order.id}} {{payload.order.id}} {{ subscriber.firstName }}', payload), '7 7 Ann')
  assert.equal(plain("{{order.lines[0].name}} {{order.lines.size}} {{payload['odd name']}}", payload), 'tea 1 x')
  assert.equal(
    plain('[{{nothing}}{{order.nothing.at.all}}{{payload.x}}{{subscriber.y}}{{actor.z}}{{size}}]', payload),
    '[]',
  )
})

test('a variable prints the same with and without a filter beside it', () => {
  const payload = { list: ['a', ['b', 1]], object: { a: 1 }, no: false, zero: 0, nil: null, text: 'é 🎉' }
  for (const name of Object.keys(payload)) {
    // A tag takes the template off the quick way.
    assert.equal(plain(`{{ ${name} }}`, payload), plain(`{% if true %}{{ ${name} }}{% endif %}`, payload), name)
  }
  assert.equal(plain('{{list}}|{{object}}|{{no}}|{{zero}}|{{nil}}|{{text}}', payload), 'ab1|{"a":1}|false|0||é 🎉')
})

test('what can be neither stored nor sent is left out: halves of characters and NUL', () => {
  const payload = { name: '🎉Ann', zero: '%00' }
  for (const render of [plain, html]) {
    const words = render("[{{ name | split: '' | first }}][{{ name | slice: 0 }}][a{{ zero | url_decode }}b]", payload)
    assert.equal(words, '[\uFFFD][🎉][ab]')
  }
})

test('in HTML what a variable holds is escaped, in text it is not', () => {
  const payload = { name: `<b>"Tom" & 'Jerry'</b>` }
  const escaped = '&lt;b&gt;&#34;Tom&#34; &amp; &#39;Jerry&#39;&lt;/b&gt;'
  assert.equal(html('<p>{{ name }}</p>', payload), `<p>${escaped}</p>`)
  assert.equal(html('<p>{% if name %}{{ name | strip }}{% endif %}</p>', payload), `<p>${escaped}</p>`)
  assert.equal(html('{% echo name %}{% cycle name, "x" %}', payload), escaped + escaped)
  assert.equal(plain('{{ name }}{{ name | strip }}', payload), payload.name + payload.name)
})

test('what is escaped already is not escaped twice, and raw is not escaped at all', () => {
  const payload = { name: '<b>', lines: 'a<\nb' }
  assert.equal(
    html('{{ name | escape }} {{ name | escape_once }} {{ "&lt;" | escape_once }}', payload),
    '&lt;b&gt; &lt;b&gt; &lt;',
  )
  assert.equal(html('{{ lines | newline_to_br }}', payload), 'a&lt;<br>\nb')
  assert.equal(
    html('{% capture x %}<i>{{ name }}</i>{% endcapture %}{{ x }} {{ x | size }}', payload),
    '<i>&lt;b&gt;</i> 16',
  )
  assert.equal(html('{{ name | raw }}', payload), '<b>')
  // A filter after a capture gives text again, which is escaped.
  assert.equal(html('{% capture x %}<i>{% endcapture %}{{ x | append: name }}', payload), '&lt;i&gt;&lt;b&gt;')
})

test('nothing but own members can be reached', () => {
  const payload = JSON.parse('{"a": {}, "list": [1], "__proto__": {"x": 1}}')
  for (const path of [
    'constructor',
    'a.constructor',
    'a.__proto__',
    'a.toString',
    'list.map',
    '"".constructor',
    'hasOwnProperty',
  ]) {
    assert.equal(plain(`{{ ${path} }}`, payload), '', path)
    assert.equal(plain(`{% if true %}{{ ${path} }}{% endif %}`, payload), '', path)
  }
})

test('a template brings in no other and reads no file', () => {
  for (const tag of ['include', 'render', 'layout', 'block']) {
    const { message } = renderError(() => plain(`{% ${tag} "/etc/passwd" %}`))
    assert.equal(message, `line 1, column 1: the tag "${tag}" is not available: a template cannot include others`)
  }
})

test('counting in a template changes no one else’s variables', () => {
  const scope = scopeWith({ n: 5 })
  assert.equal(sceneRenderer.value('{% increment n %}{% increment n %}{% decrement m %}', scope), '56-1')
  assert.deepEqual(scope, scopeWith({ n: 5 }))
})

test('a mistake reports field, line, column and the nearest name', () => {
  const email = (more: object) => () =>
    sceneRenderer.email(freshKey(), { type: 'email', subject: 's', content: 'c', ...more }, scopeWith())
  assert.deepEqual(renderError(email({ subject: 'a\n  {{ x | upcas }}' })), {
    field: 'template.subject',
    message: 'line 2, column 3: unknown filter "upcas"; did you mean "upcase"?',
  })
  assert.deepEqual(renderError(email({ content: [{ type: 'text', content: '{% if x %}' }] })), {
    field: 'template.content[0].content',
    message: 'line 1, column 1: tag {% if x %} not closed',
  })
  assert.deepEqual(
    renderError(() => plain('{% nope %}')),
    {
      field: 'value',
      message: 'line 1, column 1: tag "nope" not found',
    },
  )
})

test('a value of a condition is rendered as text, and has a length', () => {
  assert.equal(plain('{{payload.limit}}', { limit: 10 }), '10')
  assert.equal(plain('no variable'), 'no variable')
  assert.match(renderError(() => plain(`{{x}}${'a'.repeat(10_000)}`)).message, /at most 10000 are allowed/)
})

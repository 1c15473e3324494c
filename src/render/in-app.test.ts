// In-app messages from templates.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshKey, renderError, sceneRenderer, scopeWith } from '../../test/support/render-scene.ts'
import type { StepTemplate } from '../domain/workflows/workflow.ts'

const inApp = (more: Partial<StepTemplate>, payload = {}) =>
  sceneRenderer.inApp(freshKey(), { type: 'in_app', content: 'Hello', ...more }, scopeWith(payload))

test('a text alone gives content and an empty call to action', () => {
  assert.deepEqual(inApp({ content: 'Hi {{subscriber.firstName}}' }), { content: 'Hi Ann', cta: {} })
})

test('everything that can be said is rendered', () => {
  const template: Partial<StepTemplate> = {
    subject: 'Order\n{{id}}',
    cta: {
      type: 'redirect',
      data: { url: '/orders/{{id}}' },
      action: {
        status: 'done',
        buttons: [
          { type: 'primary', content: 'See {{id}}', resultContent: 'Seen {{id}}' },
          { type: 'secondary', content: 'Later' },
        ],
      },
    },
    data: { id: '{{id}}', deep: [{ name: '{{subscriber.firstName}}', n: 1, no: null }], flag: true },
  }
  assert.deepEqual(inApp(template, { id: 7 }), {
    content: 'Hello',
    subject: 'Order 7',
    cta: {
      type: 'redirect',
      data: { url: '/orders/7' },
      action: {
        status: 'pending',
        buttons: [
          { type: 'primary', content: 'See 7', resultContent: 'Seen 7' },
          { type: 'secondary', content: 'Later' },
        ],
      },
    },
    data: { id: '7', deep: [{ name: 'Ann', n: 1, no: null }], flag: true },
  })
})

test('content is sanitised, and what the payload holds is text', () => {
  const content = (text: string, x = '') => inApp({ content: text }, { x }).content
  assert.equal(content('<b>{{x}}</b>', '<script>alert(1)</script>'), '<b>&lt;script&gt;alert(1)&lt;/script&gt;</b>')
  assert.equal(content('{{x}}', '<img src=x onerror=alert(1)>'), '&lt;img src=x onerror=alert(1)&gt;')
  assert.equal(content('{{x | raw}}', '<img src=x onerror=alert(1)><svg onload=x><b>b</b>'), '<b>b</b>')
  assert.equal(content('<a href="{{x}}">a</a>', 'javascript:alert(1)'), '<a>a</a>')
  assert.equal(
    content('<a href="/x" title="{{x}}">a</a>', '" onmouseover="alert(1)'),
    '<a href="/x" title="&quot; onmouseover=&quot;alert(1)">a</a>',
  )
  assert.equal(content('<p style="position:fixed" class="x"><em>a</em><br></p><h1>b</h1>'), '<p><em>a</em><br /></p>b')
})

test('quotes in a text are quotes, with and without markup around', () => {
  const x = `"Tom" & 'Jerry'`
  assert.equal(inApp({ content: '{{x}}' }, { x }).content, `"Tom" &amp; 'Jerry'`)
  assert.equal(inApp({ content: '<b>{{x}}</b>' }, { x }).content, `<b>"Tom" &amp; 'Jerry'</b>`)
})

test('a link that could run a script fails the message and names its field', () => {
  const cta = { data: { url: '{{x}}' } }
  const { field, message } = renderError(() => inApp({ cta }, { x: 'javascript:alert(1)' }))
  assert.equal(field, 'template.cta.data.url')
  assert.match(message, /begins with "javascript:"/)
  assert.deepEqual(inApp({ cta }, {}).cta, {})
  assert.deepEqual(inApp({ cta }, { x: 'https://x.example' }).cta, {
    type: 'redirect',
    data: { url: 'https://x.example' },
  })
})

test('what is too long or too deep is reported', () => {
  const long = { content: '{{x}}{{x}}' }
  assert.match(renderError(() => inApp(long, { x: 'a'.repeat(60_000) })).message, /more than 100000 characters/)
  assert.equal(inApp(long, { x: 'a'.repeat(40_000) }).content.length, 80_000)
  let data: Record<string, unknown> = {}
  for (let depth = 0; depth < 12; depth += 1) data = { data }
  assert.match(renderError(() => inApp({ data })).message, /nested more than 10 levels deep/)
  const many = Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`k${index}`, 'x']))
  assert.match(renderError(() => inApp({ data: many })).message, /more than 200 strings/)
})

test('a member named like a prototype is data', () => {
  const data = JSON.parse('{"__proto__": "{{x}}"}')
  assert.deepEqual(Object.entries(inApp({ data }, { x: 1 }).data ?? {}), [['__proto__', '1']])
})

test('buttons lead somewhere, links open somewhere, and a picture may be anyone’s', () => {
  const buttons = [{ type: 'primary', content: 'Go', redirect: { url: '/go/{{x}}', target: '_blank' } }] as const
  const cta = { data: { url: '/x', target: '_self' }, action: { buttons } } as const
  const actor = { type: 'system_custom', data: '{{ picture }}' } as const
  const made = inApp({ cta, actor }, { x: 7, picture: 'https://x.example/a.png' })
  assert.deepEqual(made.cta, {
    type: 'redirect',
    data: { url: '/x', target: '_self' },
    action: {
      status: 'pending',
      buttons: [{ type: 'primary', content: 'Go', redirect: { url: '/go/7', target: '_blank' } }],
    },
  })
  assert.deepEqual(made.actor, { type: 'system_custom', data: 'https://x.example/a.png' })
  assert.deepEqual(inApp({ actor }, {}).actor, { type: 'none', data: null }, 'an empty address is none')
  for (const picture of [
    'data:image/png;base64,aGk=',
    'javascript:alert(1)',
    `https://x.example/${'a'.repeat(5_000)}`,
  ]) {
    assert.deepEqual(inApp({ actor }, { picture }).actor, { type: 'none', data: null }, 'what is no address is none')
  }
  assert.equal(inApp({ actor: { type: 'user', data: null } }).actor, undefined, 'not rendered')
  const broken = [{ type: 'primary', content: 'Go', redirect: { url: '{{x}}' } }] as const
  const { field } = renderError(() => inApp({ cta: { action: { buttons: broken } } }, { x: 'javascript:alert(1)' }))
  assert.equal(field, 'template.cta.action.buttons[0].redirect.url')
})

test('what payloads bring is shown as it is only where the author says so', () => {
  const content = '{{x}}<script>1</script>'
  const x = '<b onclick="y">'
  assert.equal(inApp({ content, disableOutputSanitization: true }, { x }).content, `${x}<script>1</script>`)
  assert.doesNotMatch(inApp({ content, disableOutputSanitization: false }, { x }).content, /<b|script/)
})

// E-mails from templates.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshKey, renderError, sceneRenderer, scopeWith } from '../../../test/support/render-scene.ts'
import type { StepTemplate } from '../../domain/workflows/workflow.ts'

const email = (more: Partial<StepTemplate>, payload = {}, subscriber = {}) =>
  sceneRenderer.email(
    freshKey(),
    { type: 'email', subject: 'Order {{id}}', content: '<p>x</p>', ...more },
    scopeWith(payload, subscriber),
  )

const blocks: NonNullable<StepTemplate['content']> = [
  {
    type: 'text',
    content: 'Hello <b>{{subscriber.firstName}}</b>,\nthanks & welcome',
    styles: { textAlign: 'center' },
  },
  { type: 'text', content: 'Plain {{name}}\nsecond line' },
  { type: 'button', content: 'See {{id}}', url: 'https://x.example/orders/{{id}}?a=1&b=2' },
]

test('blocks become an accessible document with a layout, and their text beside it', () => {
  const { subject, html, text, content } = email(
    { content: blocks, contentType: 'editor' },
    { id: 7, name: 'Tom & Co' },
  )
  assert.equal(subject, 'Order 7')
  assert.match(html, /^<!DOCTYPE html>\n<html lang="en" dir="ltr">/)
  assert.match(html, /<title>Order 7<\/title>/)
  assert.match(html, /text-align:center">Hello <b>Ann<\/b>,\nthanks &amp; welcome</)
  assert.match(html, />Plain Tom &amp; Co<br>\nsecond line</)
  assert.match(html, /<a href="https:\/\/x\.example\/orders\/7\?a=1&amp;b=2"[^>]*>See 7<\/a>/)
  assert.equal(
    text,
    'Hello Ann, thanks & welcome\n\nPlain Tom & Co\nsecond line\n\nSee 7 (https://x.example/orders/7?a=1&b=2)',
  )
  assert.deepEqual(content, [
    { type: 'text', content: 'Hello <b>Ann</b>,\nthanks &amp; welcome', styles: { textAlign: 'center' } },
    { type: 'text', content: 'Plain Tom &amp; Co\nsecond line' },
    { type: 'button', content: 'See 7', url: 'https://x.example/orders/7?a=1&b=2' },
  ])
})

test('the layout speaks the subscriber’s language, in its direction', () => {
  assert.match(email({}, {}, { locale: 'ar_EG' }).html, /<html lang="ar-EG" dir="rtl">/)
  assert.match(email({}, {}, { locale: 'de' }).html, /<html lang="de" dir="ltr">/)
  assert.match(email({}, {}, { locale: '"><script>' }).html, /<html lang="en" dir="ltr">/)
})

test('a fragment of HTML gets the layout, a document and a template without one do not', () => {
  const fragment = email({ content: '<p>{{x}}</p>' }, { x: '<i>' })
  assert.match(fragment.html, /<td style="padding:32px[^>]*>\n<p>&lt;i&gt;<\/p>\n<\/td>/)
  assert.equal(fragment.content, '<p>&lt;i&gt;</p>')
  assert.equal(fragment.text, '<i>')
  const document = '<!doctype html><HTML><body><p>a</p></body></HTML>'
  assert.equal(email({ content: document }).html, document)
  for (const layoutId of [null, 'none']) assert.equal(email({ layoutId }).html, '<p>x</p>')
})

test('a preheader is hidden in the document, escaped, and no part of the text', () => {
  const preheader = 'New <b>{{x}}</b>\nline'
  const hidden = /<div style="display:none[^>]*>New &lt;b&gt;&amp;&lt;\/b&gt; line<\/div>/
  for (const more of [{}, { layoutId: null }, { content: '<html><body class="a"><p>x</p></body></html>' }]) {
    const { html, text } = email({ preheader, ...more }, { x: '&' })
    assert.match(html, hidden)
    assert.equal(text, 'x')
  }
  assert.match(
    email({ preheader, content: '<html><body class="a"><p>x' }).html,
    /<body class="a"><div style="display:none/,
  )
  assert.doesNotMatch(email({ preheader: '{{nothing}}' }).html, /display:none/)
})

test('subject and sender’s name are one line, however the payload is', () => {
  const payload = { id: 'a\r\nBcc: eve@evil.example\u0000\u2028b\u0085c', name: 'Ann\r\n<x@y.example>' }
  const { subject, senderName } = email({ senderName: '{{name}}' }, payload)
  assert.equal(subject, 'Order a Bcc: eve@evil.example b c')
  assert.equal(senderName, 'Ann <x@y.example>')
  assert.equal('senderName' in email({ senderName: '{{none}}' }), false)
  assert.equal(email({}, { id: '🎉'.repeat(400) }).subject.length, 499)
  assert.equal(email({}, { id: '🎉'.repeat(400) }).subject.isWellFormed(), true)
})

test('scripts in the payload stay text wherever they are printed', () => {
  const script = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
  const { html, text } = email(
    {
      preheader: '{{x}}',
      subject: '{{x}}',
      content: [
        { type: 'text', content: '{{x}}' },
        { type: 'text', content: '<a href="{{x}}" title="{{x}}">{{x}}</a>' },
        { type: 'button', content: '{{x}}', url: 'https://x.example/?q={{x}}' },
      ],
    },
    { x: script },
  )
  assert.doesNotMatch(html, /<script|<img|"><script/)
  assert.match(text, /"><script>alert\(1\)<\/script>/)
  assert.doesNotMatch(
    email({ content: '<p title="{{x}}">{{x}}</p>' }, { x: '" onmouseover="alert(1)' }).html,
    /" onmouseover/,
  )
})

test('markup of a block is reduced to what is harmless', () => {
  const shown = (content: string, payload = {}) => {
    const [block] = email({ content: [{ type: 'text', content }] }, payload).content
    return typeof block === 'object' ? block.content : undefined
  }
  assert.equal(shown('a<script>alert(1)</script><b onclick="x()" style="color:red">b</b>'), 'a<b>b</b>')
  assert.equal(shown('<a href="{{x}}">b</a>', { x: 'javascript:alert(1)' }), '<a>b</a>')
  assert.equal(shown('<a href="{{x}}">b</a>', { x: 'java\tscript:alert(1)' }), '<a>b</a>')
  assert.equal(
    shown('<a href="https://x.example" target="_top">b</a>'),
    '<a href="https://x.example" target="_blank" rel="noopener noreferrer">b</a>',
  )
  assert.equal(
    shown('<iframe src="https://x.example"></iframe><img src="data:image/svg+xml,x" alt="a">'),
    '<img alt="a" />',
  )
  assert.equal(shown('{{x | raw}}', { x: '<i>i</i><script>s</script>' }), '<i>i</i>')
})

test('a button leads to a safe address or nowhere', () => {
  const url = (x: string) => () => email({ content: [{ type: 'button', content: 'Go', url: '{{x}}' }] }, { x })
  for (const x of [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' \u00a0javascript:x',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc',
  ]) {
    const { field, message } = renderError(url(x))
    assert.equal(field, 'template.content[0].url', x)
    assert.match(message, /must begin with http, https, mailto or tel, or be relative/)
  }
  assert.match(renderError(url('java\nscript:x')).message, /line break or a control character/)
  assert.match(renderError(url(`https://x.example/${'a'.repeat(4_000)}`)).message, /at most 4000/)
  for (const x of [
    'http://x.example',
    'HTTPS://x.example/a:b',
    'mailto:a@x.example',
    'tel:+49',
    '/path?a:b',
    '?a=b:c',
    '#x',
    '//x.example',
  ])
    assert.match(url(x)().html, /<a href=/, x)
  assert.match(url('https://x.example/a b')().html, /href="https:\/\/x\.example\/a%20b"/)
  assert.doesNotMatch(url('')().html, /<a /)
  assert.match(url('')().html, /<strong>Go<\/strong>/)
})

test('an e-mail with a style has it inlined, inside the layout too', () => {
  const { html, content } = email({ content: '<style>p{color:red}</style><p>{{x}}</p>' }, { x: 1 })
  assert.match(html, /<p style="color: red;">1<\/p>/)
  assert.match(html, /^<!DOCTYPE html>/)
  assert.equal(typeof content, 'string')
})

test('declared defaults stand in for what the payload lacks', () => {
  const template: Partial<StepTemplate> = {
    subject: '{{name}} {{payload.name}} {{order.id}} {{order.note}} {{subscriber.firstName}}',
    variables: [
      { name: 'name', defaultValue: 'friend' },
      { name: 'order.note', defaultValue: 'none' },
      { name: 'subscriber.firstName', defaultValue: 'Eve' },
      { name: 'order.id.deeper', defaultValue: 'x' },
    ],
  }
  assert.equal(email(template, { order: { id: 1 } }).subject, 'friend friend 1 none Ann')
  assert.equal(email(template, { name: 'Bo', order: { id: 1, note: '' } }).subject, 'Bo Bo 1 Ann')
})

test('Unicode goes through as it is', () => {
  const { html, text } = email({ content: [{ type: 'text', content: '日本語 {{x}} می‌خواهم' }] }, { x: '👩‍👩‍👧' })
  assert.match(html, /日本語 👩‍👩‍👧 می‌خواهم/)
  assert.equal(text, '日本語 👩‍👩‍👧 می‌خواهم')
})

test('what payloads bring to HTML is as it is only where the author says so', () => {
  const content = '<p>{{x}}</p>'
  const said = (disableOutputSanitization: boolean) =>
    email({ contentType: 'customHtml', content, disableOutputSanitization }, { x: '<i>y</i>' }).content
  assert.equal(said(true), '<p><i>y</i></p>')
  assert.equal(said(false), '<p>&lt;i&gt;y&lt;/i&gt;</p>')
})

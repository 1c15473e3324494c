// An environment's own layouts: the slot, what they see, and what they are put around.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshKey, renderError, sceneRenderer, scopeWith } from '../../../test/support/render-scene.ts'
import type { EmailFrame, TemplateScope } from '../../domain/workflows/rendering.ts'
import type { StepTemplate } from '../../domain/workflows/workflow.ts'
import { layoutMistake } from './own-layout.ts'

const layout = (content: string) => ({ _id: 'l', identifier: 'l', key: freshKey(), content })

function mail(frame: EmailFrame, more: Partial<StepTemplate> = {}, scope: TemplateScope = scopeWith({ x: '<b>' })) {
  const template: StepTemplate = { type: 'email', subject: 'S & T', content: '<p>{{ x }}</p>', ...more }
  return sceneRenderer.email(freshKey(), template, scope, frame)
}

test('every form of the slot takes the body as it is', () => {
  for (const slot of ['{{{body}}}', '{{{ body }}}', '{{ body }}', '{{body}}', '{{- body -}}', '{{ body | raw }}']) {
    const content = `<main>${slot}</main>`
    assert.equal(layoutMistake(content), undefined, slot)
    assert.equal(mail(layout(content)).html, '<main><p>&lt;b&gt;</p></main>', slot)
  }
})

test('content names the slot where body does not, and is a field of the payload otherwise', () => {
  for (const slot of ['{{content}}', '{{{content}}}', '{{ content }}', '{{{ content }}}']) {
    assert.equal(layoutMistake(`<main>${slot}</main>`), undefined, slot)
    assert.equal(mail(layout(`<main>${slot}</main>`)).html, '<main><p>&lt;b&gt;</p></main>', slot)
  }
  assert.match(layoutMistake('{{content}} {{{content}}}') ?? '', /has 2 places/)
  const both = '{{ content }} {{{ body }}}'
  assert.equal(layoutMistake(both), undefined)
  assert.equal(mail(layout(both), {}, scopeWith({ content: 'mine', x: 'y' })).html, 'mine <p>y</p>')
})

test('the slot must be there once', () => {
  assert.match(layoutMistake('<main></main>') ?? '', /no place for the body/)
  assert.match(layoutMistake('{{ bodies }} {{ x.body }} {% if body %}{% endif %}') ?? '', /no place for the body/)
  assert.match(layoutMistake('{{body}} {% if x %}{{{ body }}}{% endif %}') ?? '', /has 2 places/)
  assert.match(layoutMistake('{% raw %}{{body}}{% endraw %}') ?? '', /no place/)
  assert.equal(layoutMistake('{% if x %}{{ body }}{% endif %}'), undefined)
})

test('a mistake is reported by its line and column, three braces or two', () => {
  assert.match(layoutMistake('<p>\n{{{body}}} {% nope %}') ?? '', /line 2, column 12/)
  assert.match(layoutMistake(`{{body}}${'x'.repeat(300_000)}`) ?? '', /characters long/)
})

test('a layout sees what e-mails see, the subject, the preheader and the branding, all escaped', () => {
  const content = '{{subject}}|{{preheader}}|{{subscriber.firstName}}|{{x}}|{{branding.color}}|{{{body}}}'
  assert.equal(
    mail(layout(content), { preheader: 'P>' }).html,
    'S &amp; T|P&gt;|Ann|&lt;b&gt;|#1f2933|<p>&lt;b&gt;</p>',
  )
})

test('a payload cannot take the place of the body or the subject', () => {
  const scope = scopeWith({ body: '<script>', subject: 'no', x: 'y' })
  assert.equal(mail(layout('{{subject}} {{{body}}}'), {}, scope).html, 'S &amp; T <p>y</p>')
})

test('the branding is the tenant’s own where its data has one', () => {
  const scope = { ...scopeWith(), tenant: { data: { branding: { logo: 'l.png', color: '#fff' } } } }
  assert.equal(
    mail(layout('{{branding.logo}} {{branding.color}}{{body}}'), { content: '!' }, scope).html,
    'l.png #fff!',
  )
  const odd = { ...scopeWith(), tenant: { data: { branding: 'x' } } }
  assert.equal(mail(layout('{{branding.color}}{{body}}'), { content: '!' }, odd).html, '#1f2933!')
})

test('a preheader that the layout does not show is put into the mail, once', () => {
  const plain = mail(layout('<html><body class="a">{{body}}</body></html>'), { preheader: 'Look' }).html
  assert.match(plain, /<body class="a"><div style="display:none[^>]*>Look<\/div><p>/)
  const own = mail(layout('<body>{{preheader}}{{body}}</body>'), { preheader: 'Look' }).html
  assert.equal(own, '<body>Look<p>&lt;b&gt;</p></body>')
})

test('rules of a layout’s style reach the elements of the body', () => {
  const { html } = mail(layout('<style>p { color: red }</style><div>{{body}}</div>'))
  assert.match(html, /<p style="color: red;?">/)
})

test('the text part and the content that is shown are the body’s alone', () => {
  const { text, content } = mail(layout('<h1>Acme</h1>{{body}}'), { content: '<p>Hi</p>' })
  assert.deepEqual([text, content], ['Hi', '<p>Hi</p>'])
})

test('without a layout the body stands alone, and a whole document is never framed', () => {
  assert.equal(mail('none').html, '<p>&lt;b&gt;</p>')
  assert.match(mail('builtIn').html, /<!DOCTYPE html>/)
  const document = '<html><body>x</body></html>'
  assert.equal(mail(layout('<main>{{body}}</main>'), { content: document }).html, document)
})

test('a changed content under a new key is compiled again', () => {
  const first = { _id: 'l', identifier: 'l', key: freshKey(), content: 'a{{body}}' }
  assert.match(mail(first).html, /^a/)
  assert.match(mail({ ...first, content: 'b{{body}}' }).html, /^a/)
  assert.match(mail({ ...first, key: freshKey(), content: 'b{{body}}' }).html, /^b/)
})

test('a layout that never ends fails the mail and is named', () => {
  const endless = layout('{{body}}{% for i in (1..1000000) %}x{% endfor %}')
  assert.equal(renderError(() => mail(endless)).field, 'layout.content')
})

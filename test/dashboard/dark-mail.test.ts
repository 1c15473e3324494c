// E-mails as a dark mail client shows them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasDarkStyles, inDark } from '../../dashboard/src/ui/dark-mail.ts'

test('an e-mail without dark styles is inverted, and its pictures are turned back', () => {
  const html = '<p>Hello</p><img src="data:,">'
  assert.equal(hasDarkStyles(html), false)
  assert.match(inDark(html), /^<p>Hello<\/p><img src="data:,"><style>html\{[^}]*invert[^}]*\}img,video\{[^}]*invert/)
})

test('the dark styles of an e-mail apply whatever the theme of the page, and its light ones do not', () => {
  const html =
    '<style>@media (prefers-color-scheme: dark){p{color:#fff}}@media (Prefers-Color-Scheme:LIGHT){p{color:#000}}</style><p>Hello</p>'
  assert.equal(hasDarkStyles(html), true)
  const shown = inDark(html)
  assert.match(shown, /@media \(min-width:0\)\{p\{color:#fff\}\}@media \(max-width:0\)\{p\{color:#000\}\}/)
  assert.doesNotMatch(shown, /invert/)
})

// The text part of an e-mail.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { htmlToText, textLengthMax } from './html-to-text.ts'

test('paragraphs, headings and breaks become lines', () => {
  assert.equal(
    htmlToText('<h1>Hello  Ann</h1>\n<p>One\n line<br>and <b>another</b>.</p><div>a</div><div>b</div><hr><p>end</p>'),
    'Hello Ann\n\nOne line\nand another.\n\na\nb\n\n----------\n\nend',
  )
})

test('links report their address once', () => {
  assert.equal(
    htmlToText('See <a href="https://x.example/1?a=1&amp;b=2">your order</a>.'),
    'See your order (https://x.example/1?a=1&b=2).',
  )
  assert.equal(htmlToText('<a href="https://x.example/">https://x.example/</a>'), 'https://x.example/')
  assert.equal(
    htmlToText('<a href="mailto:a@x.example?subject=s">Write</a> <a href="tel:+49301">call</a>'),
    'Write (a@x.example) call (+49301)',
  )
  assert.equal(htmlToText('<a href="https://x.example/"><img src="l.png" alt="Logo"></a>'), 'Logo (https://x.example/)')
  assert.equal(htmlToText('<a href="https://x.example/"><img src="l.png"></a>'), 'https://x.example/')
  for (const href of ['#top', '/relative', 'javascript:alert(1)', ''])
    assert.equal(htmlToText(`<a href="${href}">x</a>`), 'x')
})

test('lists have bullets or numbers and are indented', () => {
  assert.equal(
    htmlToText(
      '<p>To do</p><ul><li>one</li><li><p>two</p><ol start="3"><li>a</li><li>b</li></ol></li><li></li><li>three</li></ul><p>end</p>',
    ),
    'To do\n\n- one\n- two\n  3. a\n  4. b\n-\n- three\n\nend',
  )
})

test('cells of a row stand on one line', () => {
  assert.equal(
    htmlToText('<table><tr><th>Item</th><th>Price</th></tr><tr><td>Tea</td><td>3 €</td></tr></table>after'),
    'Item | Price\nTea | 3 €\n\nafter',
  )
})

test('quotes and preformatted text keep their form', () => {
  assert.equal(htmlToText('<blockquote>a<br>b</blockquote><pre>x\n  y</pre>'), '> a\n> b\n\nx\n  y')
})

test('scripts, styles, titles and what is hidden are no text', () => {
  assert.equal(
    htmlToText(
      '<html><head><title>t</title><style>p{}</style></head><body><div style="display: none">pre</div><p hidden>h</p><script>alert("</p>")</script><!-- c -->text</body></html>',
    ),
    'text',
  )
})

test('entities are decoded, and what only looks like a tag is text', () => {
  assert.equal(htmlToText('&lt;b&gt; &amp;amp; &eacute;&nbsp;&#128512; 1 < 2'), '<b> &amp; é 😀 1 < 2')
})

test('the text has an end', () => {
  assert.equal(htmlToText('<p>word</p>'.repeat(100_000)).length <= textLengthMax, true)
})

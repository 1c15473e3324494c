// The blocks of an e-mail, as the editor stores them and reads them back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Block } from '../../dashboard/src/pages/workflows/blocks.ts'
import { blocksOf, blocksOfContent, contentOfBlocks, htmlOf } from '../../dashboard/src/pages/workflows/blocks.ts'

const text = (content: string): Block => ({ type: 'text', content, align: 'left' })
const heading: Block = { type: 'heading', content: 'Hello', align: 'center' }

test('quotes in Liquid stay as they are in an address, others become entities, and both are read back', () => {
  const urls = [
    '{{ payload.url | default: "https://x" }}',
    `{% if payload.a == "it's" %}https://a{% else %}https://b?q="c"{% endif %}`,
    '{{ payload.url | replace: "&quot;", "" }}',
    // While it is typed, a tag has no end yet.
    '{{ payload.url | default: "https',
    'https://x?q="a"&b={{ payload.b }}',
  ]
  for (const url of urls) {
    const blocks: Block[] = [
      { type: 'button', content: 'Open {{ "it" }}', url, align: 'right' },
      { type: 'image', url, content: `Of ${url}`, align: 'left' },
    ]
    assert.deepEqual(blocksOf(htmlOf(blocks)), blocks, url)
  }
  const html = htmlOf([{ type: 'button', content: 'Open', url: `a"{{ b | default: "c" }}`, align: 'left' }])
  assert.match(html, /href="a&quot;\{\{ b \| default: "c" \}\}" style=/)
})

test('a line break stays one whether the e-mail is stored as blocks or as HTML', () => {
  const broken = text('One <b>two</b>\nthree')
  const plain = text('One\ntwo')
  const asHtml = contentOfBlocks([heading, broken, plain])
  assert.equal(asHtml.contentType, 'customHtml')
  assert.deepEqual(blocksOfContent(asHtml.content), [heading, broken, plain])
  // Without the heading they are blocks of the service, which keeps line breaks only where there are no tags.
  const stored = contentOfBlocks([broken, plain])
  assert.deepEqual(stored.content, [
    { type: 'text', content: 'One <b>two</b><br>three' },
    { type: 'text', content: 'One\ntwo' },
  ])
  assert.deepEqual(blocksOfContent(stored.content), [broken, plain])
})

test('what is no line break where it is stored becomes none when it is edited', () => {
  const content = [{ type: 'text', content: '<i>One</i><br>\r\ntwo {{ payload.a\n | upcase }}' }]
  const blocks = blocksOfContent(content) ?? []
  assert.deepEqual(blocks, [text('<i>One</i>\n two {{ payload.a\n | upcase }}')])
  assert.deepEqual(contentOfBlocks(blocks).content, [
    { type: 'text', content: '<i>One</i><br> two {{ payload.a\n | upcase }}' },
  ])
})

test('line breaks of Windows are read back as blocks too', () => {
  const { content } = contentOfBlocks([heading, text('One\r\ntwo')])
  assert.deepEqual(blocksOfContent(content), [heading, text('One\ntwo')])
})

test('a line break in a tag of Liquid stays in it, and is read back', () => {
  const lined = text('Dear {{ payload.name\n | default: "you" }},\nthanks')
  const several = text('{% liquid\n  assign a = 1\n  echo a\n%} and <b>more</b>')
  const open = text('{{ payload.name')
  const end = text('a }} b')
  const button: Block = { type: 'button', content: 'Open\n{{ a\n | upcase }}', url: '{{ b }}', align: 'left' }
  const picture: Block = { type: 'image', url: '{{ b }}', content: 'Of\n{{ a\n}}', align: 'left' }
  const html = htmlOf([heading, lined])
  assert.match(html, /\{\{ payload\.name\n \| default: "you" \}\},<br>thanks/)
  for (const blocks of [
    [heading, lined, several],
    [heading, open, lined],
    [heading, open, end],
    [heading, button, picture, lined],
    [{ type: 'loop', item: 'one', list: 'payload.all', blocks: [lined, several] }] satisfies Block[],
  ])
    assert.deepEqual(blocksOf(htmlOf(blocks)), blocks, JSON.stringify(blocks))
})

test('`<br>` that an author wrote in a tag of Liquid stays there', () => {
  const written = text('{{ payload.text | replace: "<br>", " " }}')
  assert.deepEqual(blocksOf(htmlOf([heading, written])), [heading, written])
})

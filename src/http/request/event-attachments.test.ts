// Attachments in a payload: extracted and decoded, or rejected with what to fix.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../../test/support/random.ts'
import { attachmentsBytesMax, attachmentsPerEventMax } from '../../domain/delivery/event.ts'
import { readAttachments, withoutFiles } from './event-attachments.ts'
import { Mistakes } from './mistakes.ts'

const file = Buffer.from('hello').toString('base64')

function read(attachments: unknown) {
  const result = readAttachments({ id: 7, attachments })
  assert.ok(!(result instanceof Mistakes), result instanceof Mistakes ? result.messages.join() : '')
  return result
}

function mistakes(attachments: unknown): readonly string[] {
  const result = readAttachments({ attachments })
  assert.ok(result instanceof Mistakes)
  return result.messages
}

test('a file is decoded, and the payload keeps its name and type only', () => {
  const given = { file, name: 'a.txt', mime: 'text/plain', cid: 'logo', disposition: 'inline', channels: ['email'] }
  const { payload, attachments } = read([given])
  assert.deepEqual(payload, { id: 7, attachments: [{ name: 'a.txt', mime: 'text/plain' }] })
  const [attachment] = attachments
  assert.equal(attachment?.content.toString(), 'hello')
  assert.deepEqual([attachment?.cid, attachment?.disposition, attachment?.channels], ['logo', 'inline', ['email']])
})

test('a buffer as JSON and a data address are files too; names and types have defaults', () => {
  const { attachments } = read([{ file: Buffer.from('hello').toJSON() }, { file: `data:text/plain;base64,${file}` }])
  assert.deepEqual(
    attachments.map(({ content, name, mime }) => [content.toString(), name, mime]),
    [
      ['hello', 'attachment-1', 'application/octet-stream'],
      ['hello', 'attachment-2', 'application/octet-stream'],
    ],
  )
})

test('a member of that name that holds no files is the caller’s own', () => {
  for (const own of [undefined, 'text', [], [{ url: 'https://example.com' }], { file }]) {
    assert.deepEqual(read(own), { payload: { id: 7, attachments: own }, attachments: [] })
  }
})

test('what is no file is reported with its place', () => {
  assert.deepEqual(mistakes([{ file }, { file: 'no base64!' }]), ['attachments.1: file must be base64'])
  assert.deepEqual(mistakes([{ file: 'ŁŁŁŁ' }]), ['attachments.0: file must be base64'])
  assert.match(
    mistakes([{ file: { type: 'Buffer', data: [256] } }])[0] ?? '',
    /^attachments\.0: file must be base64, or/,
  )
  assert.match(mistakes([{ file, name: '../etc/passwd' }])[0] ?? '', /^attachments\.0: .*name/)
  assert.match(mistakes([{ file, channels: ['pigeon'] }])[0] ?? '', /^attachments\.0: .*channels/)
})

test('more files, or larger ones, than an event may bring are refused', () => {
  const many = Array.from({ length: attachmentsPerEventMax + 1 }, () => ({ file }))
  assert.match(mistakes(many)[0] ?? '', /at most 50 files/)
  const large = Buffer.alloc(attachmentsBytesMax + 1).toString('base64')
  assert.match(mistakes([{ file: large }])[0] ?? '', /bytes in total/)
})

test('line breaks are no part of base64, however many there are', () => {
  const { attachments } = read([{ file: `${file.slice(0, 4)}\r\n${file.slice(4)}\n` }])
  assert.equal(attachments[0]?.content.toString(), 'hello')
  // Quadratic work would take hours here.
  assert.deepEqual(mistakes([{ file: `${'\n'.repeat(5_000_000)}!` }]), ['attachments.0: file must be base64'])
})

test('a type that no mail can carry is refused', () => {
  assert.match(mistakes([{ file, mime: 'text/plain\r\nX-Evil: 1' }])[0] ?? '', /^attachments\.0: .*mime/)
  assert.equal(read([{ file, mime: 'text/plain; charset=utf-8' }]).attachments[0]?.mime, 'text/plain; charset=utf-8')
})

test('files do not count towards the size of an event', () => {
  const event = { name: 'x', payload: { attachments: [{ file, name: 'a.txt' }] } }
  assert.deepEqual(withoutFiles(event), { name: 'x', payload: { attachments: [{ file: '', name: 'a.txt' }] } })
  const other = { name: 'x', payload: { n: 1 } }
  assert.equal(withoutFiles(other), other)
})

test('what is base64 and what is not, letter by letter', () => {
  const random = createRandom(16)
  // Of the last two the lower byte is a letter of base64.
  const letters = 'AZaz09+/=-_ é!Łń'
  for (let count = 0; count < 20_000; count += 1) {
    const file = Array.from({ length: random.integer(9) }, () => letters[random.integer(letters.length)]).join('')
    const isGood = /^[A-Za-z0-9+/]*={0,2}$/.test(file)
    const read = readAttachments({ attachments: [{ file }] })
    assert.equal(!(read instanceof Mistakes), isGood, file)
    if (!(read instanceof Mistakes)) assert.deepEqual(read.attachments[0]?.content, Buffer.from(file, 'base64'), file)
  }
})

// A mailbox as text: a name is quoted where it must be, and only there.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailbox } from './mailbox.ts'

test('a plain name stands as it is, and none leaves the address alone', () => {
  assert.equal(mailbox('a@example.org', 'Zoë Größe'), 'Zoë Größe <a@example.org>')
  for (const name of [undefined, '', '  ']) assert.equal(mailbox('a@example.org', name), 'a@example.org')
})

test('a name that would be read as something else is quoted', () => {
  assert.equal(mailbox('a@example.org', 'Acme, Inc.'), '"Acme, Inc." <a@example.org>')
  assert.equal(mailbox('a@example.org', 'x" <eve@example.org>'), '"x\\" <eve@example.org>" <a@example.org>')
  assert.equal(mailbox('a@example.org', 'back\\'), '"back\\\\" <a@example.org>')
})

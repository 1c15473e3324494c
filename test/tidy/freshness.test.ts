// The documents made from code say what the code says now.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateDocuments } from '../../scripts/generate-docs.ts'
import { staleDocuments } from './rules/freshness.ts'
import { readSources, sample } from './rules/sources.ts'

test('the compatibility, the configuration, the OpenAPI document, the schemas of steps, the providers and the events of webhooks are what `npm run docs` writes', () => {
  const generated = generateDocuments()
  assert.deepEqual(
    generated.map(({ path }) => path),
    [
      'dashboard/src/pages/workflows/step-schemas.ts',
      'docs/compatibility.md',
      'docs/configuration.md',
      'docs/openapi.json',
      'docs/providers.md',
      'docs/webhook-events.md',
    ],
  )
  assert.deepEqual(staleDocuments(generated, readSources(['docs', 'dashboard/src'], ['.md', '.json', '.ts'])), [])
})

test('a missing document and one that differs by a character are named', () => {
  const generated = [
    { path: 'docs/a.md', text: 'a\n' },
    { path: 'docs/b.md', text: 'b\n' },
    { path: 'docs/c.md', text: 'c\n' },
  ]
  assert.deepEqual(staleDocuments(generated, sample({ 'docs/a.md': 'a\n', 'docs/b.md': 'b' })), [
    'docs/b.md is stale: run npm run docs',
    'docs/c.md is missing: run npm run docs',
  ])
})

test('every setting is in the configuration, and secrets are marked', () => {
  const page = generateDocuments().find(({ path }) => path === 'docs/configuration.md')?.text ?? ''
  assert.match(page, /^\| `PORT` \| 3000 \| /m)
  assert.match(page, /^\| `POSTHORN_API_KEY` \(secret\) \| /m)
})

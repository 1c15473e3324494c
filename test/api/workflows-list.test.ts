// The list of workflows: pages, search, tags.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { create, inApp } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
  for (let index = 0; index < 12; index += 1) {
    const tags = [...(index % 2 === 0 ? ['even'] : []), ...(index % 3 === 0 ? ['third'] : [])]
    await create(app, { name: `Letter ${index}`, workflowId: `post.${index}`, tags, steps: [inApp()] })
  }
})
after(() => app.close())

async function names(query: string): Promise<string[]> {
  const reply = await app.call('GET', `/v1/workflows?limit=100&${query}`)
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.body.totalCount, reply.body.data.length, query)
  return reply.body.data.map((workflow: Json) => workflow.name)
}

test('the list pages, newest first, and says whether there is more', async () => {
  const first = await app.call('GET', '/v1/workflows')
  assert.deepEqual(
    [first.body.data.length, first.body.page, first.body.pageSize, first.body.hasMore],
    [10, 0, 10, true],
  )
  assert.equal(first.body.data[0].name, 'Letter 11')
  const rest = await app.call('GET', '/v1/workflows?page=1&limit=10')
  assert.deepEqual([rest.body.data.length, rest.body.hasMore, rest.body.totalCount], [2, false, 12])
  assert.deepEqual((await app.call('GET', '/v1/workflows?page=2')).body.data, [])
  const one = await app.call('GET', `/v1/workflows/${first.body.data[0]._id}`)
  assert.deepEqual(first.body.data[0], one.body)
})

test('a query is contained in the name or the identifier, case-sensitive', async () => {
  assert.deepEqual(await names('query=tter%201'), ['Letter 11', 'Letter 10', 'Letter 1'])
  assert.deepEqual(await names('query=post.7'), ['Letter 7'])
  assert.deepEqual(await names('query=POST'), [])
  assert.deepEqual(
    await names('query=p'),
    Array.from({ length: 12 }, (_, n) => `Letter ${11 - n}`),
  )
  assert.deepEqual(await names('query=%25'), [], 'a percent sign means itself')
  assert.equal((await names('query=')).length, 12)
  const page = await app.call('GET', '/v1/workflows?query=Letter&limit=5&page=2')
  assert.deepEqual([page.body.data.length, page.body.hasMore, page.body.totalCount], [2, false, 12])
})

test('tags are any of those named, in every way an array is written', async () => {
  assert.deepEqual(await names('tags=third'), ['Letter 9', 'Letter 6', 'Letter 3', 'Letter 0'])
  assert.deepEqual(await names('tags[]=third&tags[]=none'), ['Letter 9', 'Letter 6', 'Letter 3', 'Letter 0'])
  assert.equal((await names('tags=even&tags=third')).length, 8)
  assert.deepEqual(await names('tags=none'), [])
  assert.deepEqual(await names('tags=third&query=Letter%209'), ['Letter 9'])
})

test('a changed name, tag or identifier is found, the old one is not, and deleted ones are not', async () => {
  const made = await create(app, { name: 'Parcel', workflowId: 'parcel', tags: ['fresh'] })
  const body = { name: 'Package', workflowId: 'package', tags: ['stale'] }
  await app.call('PATCH', `/v1/workflows/${made._id}`, { body })
  assert.deepEqual([await names('query=arcel'), await names('query=ackage')], [[], ['Package']])
  assert.deepEqual([await names('tags=fresh'), await names('tags=stale')], [[], ['Package']])
  await app.call('DELETE', '/v1/workflows/package')
  assert.deepEqual([await names('query=ackage'), await names('tags=stale')], [[], []])
})

test('limits out of bounds, and queries that are too long, are refused', async () => {
  const long = 'a'.repeat(256)
  for (const query of ['limit=101', 'limit=0', 'page=-1', 'limit=x', `query=${long}`, `tags=${long}`]) {
    const reply = await app.call('GET', `/v1/workflows?${query}`)
    assert.equal(reply.status, 422, query)
  }
})

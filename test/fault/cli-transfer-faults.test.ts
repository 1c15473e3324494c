// Transfers when something goes wrong: a line that is refused, an answer that is lost, a service that fails.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Json } from '../support/app.ts'
import { CliScene, linesIn } from '../support/cli-scene.ts'
import { bodyOf } from '../support/outbound-scene.ts'

let scene: CliScene
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'posthorn-transfer-'))
  scene = await CliScene.start(join(folder, 'data'))
})
after(async () => {
  await scene.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (...args: string[]) => scene.run(args)

/** The service behind a front: `onAnswer` says what becomes of an answer that is there. */
async function front(onAnswer: (method: string, path: string) => 'lost' | 'failed' | 'passed') {
  const server = createServer(async (request, reply) => {
    const [method = '', path = ''] = [request.method, request.url]
    const body = await bodyOf(request)
    const { authorization = '', 'idempotency-key': key } = request.headers
    const answer = await fetch(`${scene.service.url}${path}`, {
      method,
      headers: {
        authorization,
        ...(key === undefined ? {} : { 'idempotency-key': String(key) }),
        ...(body === '' ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === '' ? {} : { body }),
    })
    const text = await answer.text()
    const became = onAnswer(method, path)
    if (became === 'lost') return void request.socket.destroy()
    reply.writeHead(became === 'failed' ? 500 : answer.status, { 'content-type': 'application/json' })
    reply.end(became === 'failed' ? '{"message":"Internal Server Error"}' : text)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  }
  return { url: `http://127.0.0.1:${port}`, close }
}

async function exportFile(name: string, things: readonly { kind: string; value: object }[]): Promise<string> {
  const file = join(folder, name)
  const all = [{ format: 'posthorn-export-1' }, ...things]
  await writeFile(file, `${all.map((one) => JSON.stringify(one)).join('\n')}\n`)
  return file
}

test('a suppression that cannot be imported is reported alone: the others are there, and the counts are true', async () => {
  const suppression = (address: string) => ({ kind: 'suppression', value: { channel: 'email', address } })
  const erased = `#${'ab'.repeat(32)}`
  const good = ['one@example.com', 'two@example.com', 'three@example.com']
  const file = await exportFile('suppressions.jsonl', [
    suppression('one@example.com'),
    suppression(erased),
    suppression('two@example.com'),
    suppression('not an address'),
    suppression('three@example.com'),
    { kind: 'topic', value: { key: 'good' } },
    { kind: 'topic', value: { key: 'not a key!' } },
  ])
  const done = await run('import', file, '--json')
  assert.equal(done.code, 0, done.stderr)
  assert.deepEqual(JSON.parse(done.stdout), {
    imported: { suppressions: 3, topics: 1 },
    changed: { suppressions: 3, topics: 1 },
    left: { suppression: 2, topic: 1 },
  })
  const report = await linesIn(`${file}.report.jsonl`)
  assert.deepEqual(
    report.map(({ kind, id }) => [kind, id]),
    [
      ['suppression', `email ${erased}`],
      ['suppression', 'email not an address'],
      ['topic', 'not a key!'],
    ],
  )
  assert.match(report[0].reason, /erased person/)
  const listed = (await scene.call('GET', '/v1/suppressions?limit=100')).data.map((one: Json) => one.address)
  assert.deepEqual(
    good.filter((address) => !listed.includes(address)),
    [],
  )
})

test('a webhook endpoint whose answer is lost is created once', async () => {
  const url = 'https://hooks.example.com/only-once'
  const file = await exportFile('endpoint.jsonl', [{ kind: 'endpoint', value: { url, enabled: true } }])
  let posts = 0
  const behind = await front((method, path) => {
    if (method !== 'POST' || path !== '/v1/webhook-endpoints') return 'passed'
    posts += 1
    return posts === 1 ? 'lost' : 'passed'
  })
  try {
    const done = await run('import', file, '--to-url', behind.url)
    assert.equal(done.code, 0, done.stderr)
  } finally {
    await behind.close()
  }
  assert.equal(posts, 2)
  const all = (await scene.call('GET', '/v1/webhook-endpoints?limit=100')).data
  assert.equal(all.filter((one: Json) => one.url === url).length, 1)
  // What was deleted since is created again: the key of the first import is not that of the second.
  await scene.call('DELETE', `/v1/webhook-endpoints/${all.find((one: Json) => one.url === url)._id}`)
  assert.equal((await run('import', file, '--restart')).code, 0)
  const again = (await scene.call('GET', '/v1/webhook-endpoints?limit=100')).data
  assert.equal(again.filter((one: Json) => one.url === url).length, 1)
})

test('an export that fails leaves no part of a file', async () => {
  const behind = await front((_method, path) => (path.startsWith('/v2/topics') ? 'failed' : 'passed'))
  const file = join(folder, 'broken.jsonl')
  try {
    const done = await run('export', file, '--url', behind.url)
    assert.equal(done.code, 1)
    assert.match(done.stderr, /Internal Server Error/)
  } finally {
    await behind.close()
  }
  const left = (await readdir(folder)).filter((name) => name.startsWith('broken.jsonl'))
  assert.deepEqual(left, ['broken.jsonl.report.jsonl'])
})

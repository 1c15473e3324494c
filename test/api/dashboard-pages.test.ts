// The pages of the dashboard as the server serves them: only to browsers, never in the way of the API, under a strict policy.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { createServer } from '../../src/http/server.ts'
import { queueOf } from '../../src/queue/queue.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { worldClock } from '../support/pipeline.ts'

let app: TestApp
let server: FastifyInstance
let folder: string
before(async () => {
  app = await createTestApp()
  folder = mkdtempSync(join(tmpdir(), 'posthorn-pages-'))
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html><base href="/" /><title>Posthorn</title>')
  writeFileSync(join(folder, 'assets', 'main-1.js'), 'console.log(1)')
  writeFileSync(join(folder, 'assets', 'main-1.js.gz'), gzipSync('console.log(1)'))
  server = await serverAt('http://localhost:3000')
})
after(async () => {
  await server.close()
  await app.close()
  rmSync(folder, { recursive: true })
})

const serverAt = (baseUrl: string): Promise<FastifyInstance> =>
  createServer(app.database.db, app.world, {
    rateLimits: 'off',
    corsOrigins: [],
    vendor: 'platform',
    baseUrl,
    dashboardFolder: folder,
    queue: queueOf(worldClock(app.world)),
    poolUsage: () => ({ general: app.database.db.usage() }),
  })

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('whoever asks for HTML gets the page, whatever its address', async () => {
  for (const url of ['/', '/sign-in', '/development/activity/1?x=1', '/development/subscribers/a.b@example.com']) {
    const reply = await server.inject({ url, headers: html })
    assert.equal(reply.statusCode, 200, url)
    assert.match(reply.body, /<title>Posthorn/)
    assert.match(
      String(reply.headers['content-security-policy']),
      /default-src 'none'; script-src 'self'; style-src 'self';/,
    )
    assert.doesNotMatch(String(reply.headers['content-security-policy']), /unsafe/)
    assert.equal(reply.headers['cache-control'], 'no-cache')
  }
})

test('the API answers as it does without pages', async () => {
  for (const url of ['/v1/nothing', '/v2/nothing', '/health/x', '/metrics/x', '/assets/none.js']) {
    const reply = await server.inject({ url, headers: html })
    assert.equal(reply.statusCode, 404, url)
    assert.match(String(reply.headers['content-type']), /json/)
  }
  const links = await server.inject({ url: '/', headers: { accept: '*/*' } })
  assert.equal(links.statusCode, 200)
  assert.equal(links.json().dashboard, '/')
  assert.equal((await server.inject({ method: 'POST', url: '/', headers: html })).statusCode, 404)
  assert.equal((await server.inject({ url: '/v1/environments', headers: html })).statusCode, 401)
})

test('assets are compressed, cached for good, and not sent again to who has them', async () => {
  const plain = await server.inject({ url: '/assets/main-1.js' })
  assert.equal(plain.body, 'console.log(1)')
  assert.match(String(plain.headers['cache-control']), /immutable/)
  const zipped = await server.inject({ url: '/assets/main-1.js', headers: { 'accept-encoding': 'gzip, deflate' } })
  assert.equal(zipped.headers['content-encoding'], 'gzip')
  assert.equal(gunzipSync(zipped.rawPayload).toString(), 'console.log(1)')
  const again = await server.inject({
    url: '/assets/main-1.js',
    headers: { 'if-none-match': String(plain.headers['etag']) },
  })
  assert.equal(again.statusCode, 304)
  assert.equal(again.body, '')
})

test('below a path both what a proxy strips and what it passes on are understood', async () => {
  const below = await serverAt('https://example.com/posthorn')
  for (const url of ['/development', '/posthorn/development', '/posthorn', '/posthorn/']) {
    const reply = await below.inject({ url, headers: html })
    assert.equal(reply.statusCode, 200, url)
    assert.match(reply.body, /<base href="\/posthorn\/" \/>/)
  }
  assert.equal((await below.inject({ url: '/posthorn/v1/environments' })).statusCode, 401)
  assert.equal((await below.inject({ url: '/posthorn/assets/main-1.js' })).statusCode, 200)
  const signed = await below.inject({
    method: 'POST',
    url: '/posthorn/v1/dashboard/sessions',
    headers: { 'x-posthorn-dashboard': '*' },
    payload: { apiKey: app.developmentKey },
  })
  assert.match(String(signed.headers['set-cookie']), /Path=\/posthorn\/; HttpOnly; SameSite=Strict; Secure/)
  await below.close()
})

test('messages are shown in a frame of an origin of its own, without images unless asked for', async () => {
  const policyOf = async (url: string) => String((await server.inject({ url })).headers['content-security-policy'])
  assert.match(await policyOf('/message-frame'), /img-src data:;.*frame-ancestors 'self'; sandbox allow-scripts/)
  assert.doesNotMatch(await policyOf('/message-frame'), /allow-same-origin|https:/)
  assert.match(await policyOf('/message-frame?images=on'), /img-src data: https: http:;/)
})

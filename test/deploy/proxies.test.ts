// The examples for nginx and Caddy, each run by the program itself in front of a service: calls, sockets and streams pass through.
// Where a program is not installed its tests are skipped.
import assert from 'node:assert/strict'
import { request } from 'node:https'
import { after, before, test } from 'node:test'
import { io } from 'socket.io-client'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { inboxOf } from '../support/inbox-scene.ts'
import { addressOf, openStream, until } from '../support/stream-scene.ts'
import { inApp } from '../support/workflow-scene.ts'
import type { RunningProxy } from './proxy-scene.ts'
import { isInstalled, startCaddy, startNginx } from './proxy-scene.ts'

const hasNginx = isInstalled('nginx')
const hasCaddy = isInstalled('caddy')
const withoutNginx = hasNginx ? false : 'nginx is not installed, so its example cannot be started'
const withoutCaddy = hasCaddy ? false : 'Caddy is not installed, so its example cannot be started'

let app: TestApp
let below: TestApp
let third: TestApp
let scene: FlowScene
let workflow: string
before(async () => {
  if (!hasNginx && !hasCaddy) return
  app = await createTestApp({ trustedProxies: ['127.0.0.1'], baseUrl: 'https://notify.example.com' })
  below = await createTestApp({
    nodeOf: app,
    trustedProxies: ['127.0.0.1'],
    baseUrl: 'https://www.example.com/notify',
    hears: true,
  })
  third = await createTestApp({ nodeOf: app, trustedProxies: ['127.0.0.1'], hears: true })
  scene = new FlowScene(app)
  workflow = await scene.workflow([inApp('Hello')])
})
after(async () => {
  await third?.close()
  await below?.close()
  await app?.close()
})

interface Answer {
  readonly status: number
  readonly text: string
  readonly location: string | undefined
}

function get({ ca }: RunningProxy, url: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(url, { ca, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, location: response.headers.location }))
    })
    call.on('error', reject).end()
  })
}

/** What a subscriber's page needs, through the proxy. */
async function passesThrough(proxy: RunningProxy, path: string, subscriberId: string): Promise<void> {
  const { token } = await inboxOf(app, subscriberId)
  const base = `${proxy.url}${path}`
  const ready = await get(proxy, `${base}/ready`)
  assert.equal(ready.status, 200, ready.text)
  const listed = await get(proxy, `${base}/v2/subscribers/${subscriberId}`, {
    authorization: `ApiKey ${app.developmentKey}`,
  })
  assert.match(listed.text, new RegExp(`"subscriberId":"${subscriberId}"`))
  const stream = await openStream(base, '/v1/inbox/stream', { authorization: `Bearer ${token}` }, { ca: proxy.ca })
  const names: string[] = []
  const socket = io(proxy.url, {
    path: `${path}/socket.io/`,
    query: { token },
    ca: proxy.ca,
    forceNew: true,
    transports: ['websocket'],
  })
  socket.onAny((name: string) => names.push(name))
  try {
    await stream.next('ready')
    await until(() => names.includes('unread_count_changed'))
    await scene.run(workflow, subscriberId)
    await stream.next('notification_received')
    await until(() => names.includes('notification_received'))
  } finally {
    socket.close()
    stream.close()
  }
}

test('nginx passes calls, sockets and streams on, leads to TLS, and keeps the metrics to this machine', {
  skip: withoutNginx,
}, async () => {
  const upstream = (await addressOf(app)).replace('http://', '')
  const proxy = await startNginx('deploy/nginx/posthorn.conf', upstream)
  try {
    await passesThrough(proxy, '', 'ada')
    const plain = await fetch(`${proxy.plainUrl}/v1/feeds`, { redirect: 'manual' })
    assert.deepEqual([plain.status, plain.headers.get('location')], [301, 'https://localhost/v1/feeds'])
    assert.equal((await get(proxy, `${proxy.url}/metrics`)).status, 200)
  } finally {
    await proxy.stop()
  }
})

test('nginx passes them on below a path of another site', { skip: withoutNginx }, async () => {
  const upstream = (await addressOf(below)).replace('http://', '')
  const proxy = await startNginx('deploy/nginx/posthorn-below-a-path.conf', upstream)
  try {
    await passesThrough(proxy, '/notify', 'bea')
    const bare = await get(proxy, `${proxy.url}/notify`)
    assert.equal(bare.status, 308)
    assert.equal((await get(proxy, `${proxy.url}/notify/metrics`)).status, 404)
    assert.equal((await get(proxy, `${proxy.url}/v1/feeds`)).status, 404)
  } finally {
    await proxy.stop()
  }
})

test('Caddy passes calls, sockets and streams on, and answers no one who asks for the metrics', {
  skip: withoutCaddy,
}, async () => {
  const upstream = (await addressOf(third)).replace('http://', '')
  const proxy = await startCaddy(upstream)
  try {
    await passesThrough(proxy, '', 'cid')
    assert.equal((await get(proxy, `${proxy.url}/metrics`)).status, 404)
  } finally {
    await proxy.stop()
  }
})

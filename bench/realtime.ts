// Inboxes that are connected: what 10,000 idle ones hold, how soon a broadcast reaches the last, and trigger to frame at 200/s.
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Ask } from './api.ts'
import { askAt, createSubscribers, createWorkflow, eventOf, inAppStep, requestText, subscriberIdOf } from './api.ts'
import { createCallers } from './load.ts'
import { residentMegabytes } from './service.ts'
import { scaled } from './sizes.ts'
import { withStage } from './stage.ts'
import type { Measured } from './statistics.ts'
import { percentile } from './statistics.ts'
import { until } from './waiting.ts'

const connections = scaled(10_000)
const opensAtOnce = 50
const settleMs = 15_000
const perSecond = 200
const seconds = scaled(20)
const residentBar = 400
const broadcastBar = 5_000
const frameBar = 100

/** Called with the text of every new notification. */
type OnReceived = (content: string) => void

export async function benchRealtime(): Promise<Measured[]> {
  return withStage(async (stage) => {
    const service = await stage.startService({})
    const ask = askAt(service.port)
    await createWorkflow(ask, 'bench', [inAppStep])
    await createSubscribers(ask, connections)
    const before = await residentMegabytes(service.pid)
    let onReceived: OnReceived = () => {}
    const startedAt = performance.now()
    const sockets = await connectAll(service.port, ask, (content) => onReceived(content))
    const connectSeconds = (performance.now() - startedAt) / 1000
    await sleep(settleMs)
    const resident = await residentMegabytes(service.pid)
    const listen = (listener: OnReceived): void => {
      onReceived = listener
    }
    const broadcastMs = await broadcast(ask, listen)
    const frames = await steady(service.port, listen)
    for (const socket of sockets) socket.terminate()
    return [
      { what: `resident memory, ${connections} subscribers, none connected`, value: `${before.toFixed(0)} MB` },
      { what: 'sessions opened and connected', value: `${(connections / connectSeconds).toFixed(0)}/s` },
      {
        what: `resident memory, ${connections} idle connections`,
        value: `${resident.toFixed(0)} MB`,
        bar: `≤ ${residentBar} MB`,
        met: resident <= residentBar,
      },
      {
        what: 'broadcast, trigger to the last frame',
        value: `${broadcastMs.toFixed(0)} ms`,
        bar: `≤ ${broadcastBar} ms`,
        met: broadcastMs <= broadcastBar,
      },
      { what: `trigger to frame at ${perSecond}/s, median`, value: `${percentile(frames, 0.5).toFixed(1)} ms` },
      {
        what: `trigger to frame at ${perSecond}/s, p99 of ${frames.length}`,
        value: `${percentile(frames, 0.99).toFixed(1)} ms`,
        bar: `≤ ${frameBar} ms`,
        met: percentile(frames, 0.99) <= frameBar,
      },
    ]
  })
}

async function connectAll(port: number, ask: Ask, onReceived: OnReceived): Promise<WebSocket[]> {
  const environments = (await ask('GET', '/v1/environments')) as { name: string; identifier: string }[]
  const applicationIdentifier = environments.find(({ name }) => name === 'Development')?.identifier
  const sockets: WebSocket[] = []
  let next = 0
  const connectSome = async (): Promise<void> => {
    while (next < connections) {
      const subscriberId = subscriberIdOf(next++)
      const session = await ask('POST', '/v1/inbox/session', { applicationIdentifier, subscriberId })
      const { token } = (session as { data: { token: string } }).data
      sockets.push(await connected(`ws://127.0.0.1:${port}/v1/inbox/ws?token=${token}`, onReceived))
    }
  }
  await Promise.all(Array.from({ length: opensAtOnce }, connectSome))
  return sockets
}

function connected(address: string, onReceived: OnReceived): Promise<WebSocket> {
  const socket = new WebSocket(address, { perMessageDeflate: false })
  socket.on('message', (data) => {
    const text = String(data)
    if (text.startsWith('{"event":"notification_received"')) onReceived(/"content":"([^"]*)"/.exec(text)?.[1] ?? '')
  })
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket))
    socket.once('error', reject)
  })
}

async function broadcast(ask: Ask, listen: (listener: OnReceived) => void): Promise<number> {
  let count = 0
  let lastAt = 0
  listen(() => {
    count += 1
    lastAt = performance.now()
  })
  const startedAt = performance.now()
  await ask('POST', '/v1/events/trigger/broadcast', { name: 'bench', payload: { order: { id: 'all', total: '1.00' } } })
  await until(async () => count >= connections)
  return lastAt - startedAt
}

/** In an open loop; from just before the call, so that acceptance and the step are part of it. */
async function steady(port: number, listen: (listener: OnReceived) => void): Promise<number[]> {
  const count = perSecond * seconds
  const sentAt: number[] = []
  const tookMs: number[] = []
  listen((content) => {
    const index = Number(/^Order (\d+) /.exec(content)?.[1])
    tookMs.push(performance.now() - (sentAt[index] ?? Number.NaN))
  })
  const callers = createCallers(port)
  const answers: Promise<unknown>[] = []
  const startedAt = performance.now()
  while (sentAt.length < count) {
    const due = Math.min(count, Math.floor(((performance.now() - startedAt) * perSecond) / 1000) + 1)
    while (sentAt.length < due) {
      const event = eventOf('bench', sentAt.length, connections)
      sentAt.push(performance.now())
      answers.push(callers.call(requestText('/v1/events/trigger', event)))
    }
    await sleep(1)
  }
  await Promise.all(answers)
  await until(async () => tookMs.length >= count)
  callers.close()
  // The first second warms up.
  return tookMs.slice(perSecond)
}

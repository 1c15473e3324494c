// Inboxes that are connected: what 10,000 idle ones hold, how soon a broadcast reaches the last, and commit to frame at 200/s.
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
    const { sinceCallMs, sinceAnswerMs } = await steady(service.port, listen)
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
      { what: `call to frame at ${perSecond}/s, median`, value: `${percentile(sinceCallMs, 0.5).toFixed(1)} ms` },
      { what: 'call to frame, p99', value: `${percentile(sinceCallMs, 0.99).toFixed(1)} ms` },
      { what: 'commit to frame, median', value: `${percentile(sinceAnswerMs, 0.5).toFixed(1)} ms` },
      {
        what: `commit to frame, p99 of ${sinceAnswerMs.length}`,
        value: `${percentile(sinceAnswerMs, 0.99).toFixed(1)} ms`,
        bar: `≤ ${frameBar} ms`,
        met: percentile(sinceAnswerMs, 0.99) <= frameBar,
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

interface Frames {
  /** From just before the call: acceptance and the step are part of it. */
  readonly sinceCallMs: readonly number[]
  /** From the answer, which follows the commit; 0 where the frame was here first. */
  readonly sinceAnswerMs: readonly number[]
}

/** In an open loop. The step is decided with its event, so the answer comes after the commit of the message. */
async function steady(port: number, listen: (listener: OnReceived) => void): Promise<Frames> {
  const count = perSecond * seconds
  const sentAt: number[] = []
  const answeredAt: number[] = []
  const framedAt = new Map<number, number>()
  listen((content) => {
    framedAt.set(Number(/^Order (\d+) /.exec(content)?.[1]), performance.now())
  })
  const callers = createCallers(port)
  const answers: Promise<unknown>[] = []
  const startedAt = performance.now()
  while (sentAt.length < count) {
    const due = Math.min(count, Math.floor(((performance.now() - startedAt) * perSecond) / 1000) + 1)
    while (sentAt.length < due) {
      const index = sentAt.length
      const event = eventOf('bench', index, connections)
      sentAt.push(performance.now())
      const call = callers.call(requestText('/v1/events/trigger', event))
      answers.push(
        call.then(() => {
          answeredAt[index] = performance.now()
        }),
      )
    }
    await sleep(1)
  }
  await Promise.all(answers)
  await until(async () => framedAt.size >= count)
  callers.close()
  // The first second warms up.
  const frames = [...framedAt].filter(([index]) => index >= perSecond)
  return {
    sinceCallMs: frames.map(([index, at]) => at - (sentAt[index] ?? Number.NaN)),
    sinceAnswerMs: frames.map(([index, at]) => Math.max(0, at - (answeredAt[index] ?? Number.NaN))),
  }
}

// Readers that connect and leave in a storm: nothing of them stays, and others are served meanwhile.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { WebSocket } from 'ws'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { inboxOf } from '../support/inbox-scene.ts'
import { addressOf, connectionCount, openStream, until } from '../support/stream-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

const reconnects = 500
const atOnce = 25
/** So few that each comes more often than it may have connections: what stayed of one would keep the next out. */
const readers = 3

let app: TestApp
let scene: FlowScene
let address: string
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  address = await addressOf(app)
})
after(() => app.close())

/** Opens a socket and leaves: in order, or as a process that is killed. */
function comeAndGo(token: string, isOrderly: boolean): Promise<void> {
  const socket = new WebSocket(`${address.replace('http', 'ws')}/v1/inbox/ws?token=${token}`)
  return new Promise((resolve, reject) => {
    socket.once('open', () => (isOrderly ? socket.close() : socket.terminate()))
    socket.once('close', () => resolve())
    socket.once('error', reject)
  })
}

test(`${reconnects} reconnects leave nothing behind, and another reader is served all the while`, async (t) => {
  const workflow = await scene.workflow([inApp('Hello')])
  const tokens = await Promise.all(
    Array.from({ length: readers }, async () => (await inboxOf(app, fresh('storm'))).token),
  )
  const otherId = fresh('other')
  const other = await inboxOf(app, otherId)
  const stream = await openStream(address, '/v1/inbox/stream', { authorization: `Bearer ${other.token}` })
  await stream.next('ready')
  const before = await connectionCount(app)
  const received = (): number => stream.events.filter(({ name }) => name === 'notification_received').length
  let next = 0
  const storm = async (): Promise<void> => {
    while (next < reconnects) {
      const place = next++
      await comeAndGo(tokens[place % readers] ?? '', place % 2 === 0)
    }
  }
  let isOver = false
  const storms = Promise.all(Array.from({ length: atOnce }, storm)).finally(() => {
    isOver = true
  })
  let sent = 0
  while (!isOver) {
    await scene.run(workflow, otherId)
    sent += 1
    await until(() => received() === sent)
  }
  await storms
  t.diagnostic(`${sent} notifications meanwhile`)
  assert.ok(sent >= 3, 'the storm was over before anything could be seen')
  let count = await connectionCount(app)
  const look = setInterval(async () => {
    count = await connectionCount(app)
  }, 10)
  await until(() => count === before).finally(() => clearInterval(look))
  assert.equal(stream.isClosed, false)
  stream.close()
})

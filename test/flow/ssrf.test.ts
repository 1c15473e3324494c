// Addresses that callers, recipients and events choose, end to end: a run says that it was refused, and nothing private hears of it.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { outboundAllow } from '../../src/config/outbound-allow.ts'
import type { ResolveName } from '../../src/world/outbound/address-guard.ts'
import { createOutboundFetch } from '../../src/world/outbound/outbound-fetch.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, rawOf, statuses } from '../support/flow-scene.ts'

let app: TestApp
let scene: FlowScene
/** The paths that were asked for on this machine. */
const reached: string[] = []
const inside = createServer((request, response) => {
  reached.push(request.url ?? '')
  response.writeHead(302, { location: `http://127.0.0.1:${port()}/secret` }).end()
})
const port = (): number => (inside.address() as AddressInfo).port

before(async () => {
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve))
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(async () => {
  await app.close()
  await new Promise((resolve) => inside.close(resolve))
})

/** The guard as the service has it, with names that resolve as given. */
function reachBy(resolve: ResolveName, allow = ''): void {
  const fetch = createOutboundFetch({ allow: outboundAllow(allow), resolve })
  app.world.onFetch = (request, options) => fetch(request, options)
}

const custom = (url: string) => ({ template: { type: 'custom' }, metadata: { type: 'http', url } })

/** The one job of a run of a workflow with that step. */
async function ranBy(step: object, more: object = {}): Promise<Json> {
  const notification = await scene.run(await scene.workflow([step]), fresh('person'), more)
  assert.deepEqual(statuses(notification), ['failed'])
  return notification.jobs[0]
}

test('a custom step is not called at a private address, whether it is saved there or a name leads there', async () => {
  reachBy(async () => [{ address: '127.0.0.1', family: 4 }])
  for (const host of ['[::ffff:7f00:1]', 'a.localhost', 'rebinding.example.com']) {
    const reply = await app.call('POST', '/v1/workflows', {
      body: { name: fresh('workflow'), active: true, steps: [custom(`https://${host}/secret`)] },
    })
    if (reply.status === 422) continue
    const job = await ranBy(custom(`https://${host}/secret`))
    assert.match(JSON.stringify(rawOf(job, 'Custom step failed')), /address|is not allowed/, host)
  }
  assert.deepEqual(reached, [])
})

test('a redirect of a service that may be called is not followed', async () => {
  reachBy(async () => [], `http://127.0.0.1:${port()}`)
  await ranBy(custom(`http://127.0.0.1:${port()}/allowed`))
  assert.deepEqual([...new Set(reached)], ['/allowed'])
  reached.length = 0
})

// Sending many again, and deleting many tenants and contexts: all of them, or all but one that the service refuses.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import type { Json } from '../../support/app.ts'
import { developmentKey } from '../service.ts'
import { close, gone, news, scene, skip } from '../story.ts'
import { bar, people, selected, tick } from './chosen.ts'

/** A gateway that refuses until it works. */
let status = 400
const received: string[] = []
const gateway = createServer(async (request, answer) => {
  let body = ''
  for await (const chunk of request) body += chunk
  if (status < 300) received.push(body)
  answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ id: `sms-${received.length}` }))
})
after(() => gateway.close())

/** Once, for whichever story comes first. */
async function openGateway(): Promise<void> {
  if (gateway.listening) return
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
  await scene.call('POST', '/v1/integrations', {
    providerId: 'generic-sms',
    channel: 'sms',
    name: 'Gateway',
    active: true,
    credentials: {
      baseUrl: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/send`,
      apiKeyRequestHeader: 'x-api-key',
      apiKey: 'story',
      from: 'Story',
    },
  })
}

test('what failed is sent again together; where one is refused, the reason stands with its name', {
  skip,
}, async () => {
  await openGateway()
  const visitor = await scene.visitor({ key: developmentKey })
  await people('unsent', 4)
  const { _id } = await scene.call('POST', '/v1/workflows', {
    name: 'Many again',
    active: true,
    steps: [{ name: 'SMS', template: { type: 'sms', content: 'Hello {{ subscriber.firstName }}' } }],
  })
  for (const n of [0, 1, 2, 3])
    await scene.call('POST', '/v1/events/trigger', { name: 'many-again', to: `unsent-${n}`, payload: {} })
  await visitor.goto(`development/activity?workflow=${_id}`)
  await visitor
    .getByRole('row', { name: /Failed.*Many again/ })
    .nth(3)
    .waitFor()
  status = 200
  await tick(visitor, 'Select Many again to unsent-0 Many').click()
  await tick(visitor, 'Select Many again to unsent-1 Many').click()
  await tick(visitor, 'Select Many again to unsent-2 Many').click()
  await selected(visitor, 3)
  await bar(visitor).getByRole('button', { name: 'Send again' }).click()
  const dialog = visitor.getByRole('dialog')
  await dialog.getByText('3 notifications').waitFor()
  // Another session retracts one of them.
  const { data } = await scene.call('GET', `/v1/notifications?limit=50&templates=${_id}`)
  const refused = data.find((one: Json) => one.subscriber.subscriberId === 'unsent-1')
  await scene.call('POST', `/v1/notifications/${refused._id}/retract`)
  await dialog.getByRole('button', { name: 'Send again' }).click()
  await dialog.getByText('2 done, 1 failed').waitFor()
  const reason = dialog.getByRole('alert').filter({ hasText: 'cannot be redriven: it was retracted' })
  await reason.getByText('Many again to unsent-1 Many').waitFor()
  assert.deepEqual(await scene.violations(visitor), [])
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await gone(dialog)
  await selected(visitor, 1)
  // The two arrive, each once; what was not chosen is as it was.
  for (const n of [0, 2])
    await visitor.getByRole('row', { name: new RegExp(`(?:Sent|Delivered|Done).*unsent-${n} Many`) }).waitFor()
  await visitor.getByRole('row', { name: /Failed.*unsent-3 Many/ }).waitFor()
  assert.deepEqual(received.map((body) => /unsent-\d/.exec(body)?.[0]).sort(), ['unsent-0', 'unsent-2'])
  await close(visitor, 409)
  await scene.call('DELETE', `/v1/workflows/${_id}`)
})

test('what failed is sent again from the overview, which says how far it is, also when no cause is left', {
  skip,
}, async () => {
  await openGateway()
  status = 400
  const visitor = await scene.visitor({ key: developmentKey })
  const steps = [{ name: 'SMS', template: { type: 'sms', content: 'Again {{ subscriber.firstName }}' } }]
  const { _id } = await scene.call('POST', '/v1/workflows', { name: 'All again', active: true, steps })
  for (const to of await people('behind', 2))
    await scene.call('POST', '/v1/events/trigger', { name: 'all-again', to, payload: {} })
  await visitor.goto(`development/activity?workflow=${_id}`)
  await visitor
    .getByRole('row', { name: /Failed.*All again/ })
    .nth(1)
    .waitFor()
  status = 200
  await visitor.goto('development')
  const attention = visitor.locator('section', { has: visitor.getByRole('heading', { name: 'Needs attention' }) })
  await attention.getByRole('link', { name: 'All failures' }).waitFor()
  // From here on no cause is left.
  await visitor.route(/\/v1\/failures\/causes/, (call: Json) => {
    const none = { total: 0, isCapped: false, data: [] }
    return call.fulfill({ json: { steps: none, messages: none } })
  })
  await attention.getByRole('button', { name: 'Send again' }).click()
  await attention.getByText(/^Sent again: [1-9]\d* of [1-9]\d* that failed$/).waitFor()
  await gone(attention.getByRole('button', { name: 'Send again' }))
  await attention.getByText(/^Sent again: /).waitFor()
  assert.equal(await attention.getByText('All is well').count(), 0)
  assert.deepEqual(await scene.violations(visitor), [])
  await visitor.goto(`development/activity?workflow=${_id}`)
  await visitor
    .getByRole('row', { name: /(?:Sent|Delivered|Done).*All again/ })
    .nth(1)
    .waitFor()
  assert.equal(received.filter((body) => body.includes('behind-')).length, 2, 'each once')
  // In the chart they have failed, and its number leads to as many.
  await visitor.goto('development')
  const total = visitor.getByRole('figure', { name: 'Messages over time' }).getByRole('button', { name: /^Failed: / })
  const count = await total.textContent()
  await total.click()
  await visitor.waitForURL(/failures\?redriven=with&after=.*before=/)
  await visitor.getByRole('heading', { level: 1, name: new RegExp(`^Failures ?${count}$`) }).waitFor()
  await visitor
    .getByRole('row', { name: /All again.*behind-\d Many.*Sent again since/ })
    .nth(1)
    .waitFor()
  await visitor.getByLabel('Sent again').selectOption('')
  await gone(visitor.getByRole('row', { name: /Sent again since/ }))
  // The chart of the account as well.
  const account = (await scene.call('GET', '/v1/integrations')).find((one: Json) => one.providerId === 'generic-sms')
  await visitor.goto(`development/integrations/${account._id}`)
  const failed = visitor.getByRole('figure', { name: /^Messages by/ }).getByRole('button', { name: /^Failed: / })
  const ofAccount = await failed.textContent()
  await failed.click()
  await visitor.waitForURL(/failures\?redriven=with&channel=sms&provider=generic-sms&after=.*before=/)
  await visitor.getByRole('heading', { level: 1, name: new RegExp(`^Failures ?${ofAccount}$`) }).waitFor()
  await close(visitor)
  await scene.call('DELETE', `/v1/workflows/${_id}`)
})

test('many tenants are deleted together, and no other', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  for (const n of [0, 1, 2]) {
    await scene.call('POST', '/v1/tenants', { identifier: `many-tenant-${n}`, name: `Many tenant ${n}`, data: {} })
  }
  await visitor.goto('development/tenants')
  await tick(visitor, 'Select Many tenant 0').click()
  await tick(visitor, 'Select Many tenant 2').click()
  await bar(visitor).getByRole('button', { name: 'Delete' }).click()
  const dialog = visitor.getByRole('dialog')
  await dialog.getByText('2 tenants').waitFor()
  await dialog.getByLabel('Type delete 2 to confirm').fill('delete 3')
  assert.equal(await dialog.getByRole('button', { name: 'Delete' }).isDisabled(), true)
  await dialog.getByLabel('Type delete 2 to confirm').fill('delete 2')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await news(visitor, 'Delete, 2 tenants: 2 done')
  await gone(visitor.getByRole('row', { name: /Many tenant [02]/ }))
  await visitor.getByRole('row', { name: /Many tenant 1/ }).waitFor()
  const left = (await scene.call('GET', '/v1/tenants?limit=100')).data.map((one: Json) => one.identifier)
  assert.deepEqual(left.sort(), ['acme', 'many-tenant-1'])
  await scene.call('DELETE', '/v1/tenants/many-tenant-1')
  await close(visitor)
})

test('many contexts are deleted together; one that is gone already is named with the reason', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  // Of two types: the type belongs to what a context is.
  for (const [type, id] of [
    ['project', 'first'],
    ['project', 'second'],
    ['team', 'first'],
  ])
    await scene.call('POST', '/v2/contexts', { type, id, data: {} })
  await visitor.goto('development/contexts')
  await tick(visitor, 'Select project:first').click()
  await tick(visitor, 'Select project:second').click()
  await bar(visitor).getByRole('button', { name: 'Delete' }).click()
  const dialog = visitor.getByRole('dialog')
  await dialog.getByText('2 contexts').waitFor()
  await scene.call('DELETE', '/v2/contexts/project/second')
  await dialog.getByLabel('Type delete 2 to confirm').fill('delete 2')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await dialog.getByText('1 done, 1 failed').waitFor()
  await dialog.getByRole('alert').getByText('project:second', { exact: true }).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await gone(visitor.getByRole('row', { name: /project/ }))
  await visitor.getByRole('row', { name: /team first/ }).waitFor()
  const left = (await scene.call('GET', '/v2/contexts?limit=100')).data.map((one: Json) => `${one.type}:${one.id}`)
  assert.deepEqual(left.sort(), ['team:first', 'workspace:design'])
  await scene.call('DELETE', '/v2/contexts/team/first')
  await close(visitor, 404)
})

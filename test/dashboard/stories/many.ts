// What is done to many: chosen by the mouse with Shift and by x, said before it is done, with a result that names what failed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../support/app.ts'
import { developmentKey } from '../service.ts'
import { close, gone, news, scene, shared, shown, skip } from '../story.ts'
import { bar, people, selected, tick } from './chosen.ts'

test('a range is chosen with Shift, and all of it is added to a topic', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  await people('ranged', 5)
  await visitor.goto('development/subscribers?q=ranged-')
  await tick(visitor, 'Select ranged-4 Many').click()
  await tick(visitor, 'Select ranged-1 Many').click({ modifiers: ['Shift'] })
  await selected(visitor, 4)
  // With Ctrl a row is chosen, and not opened.
  await visitor.getByRole('row', { name: /ranged-2 Many/ }).click({ modifiers: ['Control'] })
  await selected(visitor, 3)
  assert.match(visitor.url(), /subscribers\?q=/)
  assert.deepEqual(await scene.violations(visitor), [])
  await bar(visitor).getByRole('button', { name: 'Add to a topic' }).click()
  const dialog = visitor.getByRole('dialog')
  await dialog.getByText('3 subscribers').waitFor()
  assert.equal(await dialog.getByRole('button', { name: 'Add to a topic' }).isDisabled(), true)
  await dialog.getByLabel('Topic').fill('of-many')
  await dialog.getByLabel('Topic').press('Enter')
  await news(visitor, 'Add to a topic, 3 subscribers: 3 done')
  await gone(bar(visitor))
  const { data } = await scene.call('GET', '/v2/topics/of-many/subscriptions')
  assert.deepEqual(data.map((one: Json) => one.subscriber.subscriberId).sort(), ['ranged-1', 'ranged-3', 'ranged-4'])
  // And out of it again.
  await visitor.goto('development/topics/of-many')
  await tick(visitor, 'Select ranged-1 Many').click()
  await tick(visitor, 'Select ranged-3 Many').click()
  await bar(visitor).getByRole('button', { name: 'Remove' }).click()
  await visitor.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await news(visitor, 'Remove, 2 subscribers: 2 done')
  assert.equal((await scene.call('GET', '/v2/topics/of-many/subscriptions')).data.length, 1)
  await close(visitor)
})

test('x chooses by the keyboard, Shift and an arrow the next ones, Escape none; erasing is confirmed by typing', {
  skip,
}, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  const ids = await people('keyed', 4)
  await visitor.goto('development/subscribers?q=keyed-')
  await visitor.getByRole('row', { name: /keyed-3/ }).focus()
  await visitor.keyboard.press('x')
  await selected(visitor, 1)
  await visitor.keyboard.press('Shift+ArrowDown')
  await visitor.keyboard.press('Shift+J')
  await selected(visitor, 3)
  await visitor.keyboard.press('Escape')
  await gone(bar(visitor))
  await visitor.keyboard.press('Control+a')
  await selected(visitor, 4)
  await visitor.getByRole('row', { name: /keyed-0/ }).focus()
  await visitor.keyboard.press('x')
  await selected(visitor, 3)
  await bar(visitor).getByRole('button', { name: 'Erase' }).click()
  const dialog = visitor.getByRole('dialog')
  const erase = dialog.getByRole('button', { name: 'Erase' })
  await dialog.getByLabel('Type erase 3 to confirm').fill('erase')
  assert.equal(await erase.isDisabled(), true)
  await dialog.getByLabel('Type erase 3 to confirm').fill('erase 3')
  await erase.click()
  await news(visitor, 'Erase, 3 subscribers: 3 done')
  await gone(visitor.getByRole('row', { name: /keyed-1/ }))
  const left = await scene.call('GET', '/v2/subscribers?name=keyed-')
  assert.deepEqual(
    left.data.map((one: Json) => one.subscriberId),
    [ids[0]],
  )
  await close(visitor)
})

test('what fails is counted and said in the service’s own words, and stays selected', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  await scene.call('POST', '/v1/suppressions/bulk', {
    suppressions: ['one', 'two', 'three'].map((name) => ({ channel: 'email', address: `many-${name}@example.com` })),
  })
  await visitor.goto('development/settings/suppressions?q=many-')
  await tick(visitor, 'Select all addresses that are loaded').check()
  await selected(visitor, 3)
  // Another session was faster.
  await scene.call('DELETE', '/v1/suppressions/email/many-two@example.com')
  await bar(visitor).getByRole('button', { name: 'Remove' }).click()
  const dialog = visitor.getByRole('dialog')
  await dialog.getByText('3 addresses').waitFor()
  assert.equal(await dialog.getByRole('button', { name: 'Remove' }).isDisabled(), true)
  await dialog.getByLabel('Type remove 3 to confirm').fill('remove 3')
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await dialog.getByText('2 done, 1 failed').waitFor()
  await dialog.getByRole('alert').filter({ hasText: 'many-two@example.com' }).waitFor()
  assert.deepEqual(await scene.violations(visitor), [])
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await gone(dialog)
  await shown(visitor, 'No suppressed address begins like this')
  await close(visitor, 404)
})

test('waiting notifications are cancelled together, and sending again is offered only where something failed', {
  skip,
}, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  const wait = { name: 'Wait', template: { type: 'delay' }, metadata: { type: 'regular', amount: 3, unit: 'hours' } }
  const bell = { name: 'Bell', template: { type: 'in_app', content: 'later' } }
  const { _id } = await scene.call('POST', '/v1/workflows', { name: 'Many wait', active: true, steps: [wait, bell] })
  for (const to of ['ada', 'grace', 'alan'])
    await scene.call('POST', '/v1/events/trigger', { name: 'many-wait', to, payload: {} })
  await visitor.goto(`development/activity?workflow=${_id}`)
  await visitor
    .getByRole('row', { name: /Waiting.*Many wait/ })
    .nth(2)
    .waitFor()
  await visitor.getByRole('row', { name: /Many wait.*Ada/ }).focus()
  await visitor.keyboard.press('x')
  await visitor.getByRole('row', { name: /Many wait.*Grace/ }).focus()
  await visitor.keyboard.press('x')
  assert.equal(await bar(visitor).getByRole('button', { name: 'Send again' }).isDisabled(), true, 'nothing failed')
  await bar(visitor).getByRole('button', { name: 'Cancel' }).click()
  await visitor.getByLabel('Type cancel 2 to confirm').fill('cancel 2')
  await visitor.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await news(visitor, 'Cancel, 2 notifications: 2 done')
  await visitor
    .getByRole('row', { name: /Cancelled.*Many wait/ })
    .nth(1)
    .waitFor()
  assert.equal(await visitor.getByRole('row', { name: /Waiting.*Many wait/ }).count(), 1)
  await scene.call('DELETE', `/v1/workflows/${_id}`)
  await close(visitor)
})

test('messages and captured messages are deleted together, the open one among them', { skip }, async () => {
  const { page } = shared
  const before = (await scene.call('GET', '/v1/outbox?limit=50')).data.length
  await page.goto('development/outbox')
  await page.getByLabel('Captured messages').getByRole('link').first().click()
  await page.getByRole('article').waitFor()
  const ticks = page.getByLabel('Captured messages').getByRole('checkbox')
  await ticks.first().click()
  await ticks.nth(2).click({ modifiers: ['Shift'] })
  await selected(page, 3)
  assert.deepEqual(await scene.violations(page), [])
  await bar(page).getByRole('button', { name: 'Delete' }).click()
  await page.getByLabel('Type delete 3 to confirm').fill('delete 3')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await news(page, 'Delete, 3 messages: 3 done')
  assert.equal((await scene.call('GET', '/v1/outbox?limit=50')).data.length, before - 3)
  await page.goto('development/activity/messages?channel=in_app')
  await page.getByRole('row').nth(1).focus()
  await page.keyboard.press('x')
  await page.keyboard.press('Shift+ArrowDown')
  await selected(page, 2)
  await bar(page).getByRole('button', { name: 'Delete' }).click()
  await page.getByLabel('Type delete 2 to confirm').fill('delete 2')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await news(page, 'Delete, 2 messages: 2 done')
  assert.equal((await scene.call('GET', '/v1/messages?removed=only')).totalCount, 2)
})

test('who may only read can choose nothing', { skip }, async () => {
  const { key } = await scene.call('POST', '/v1/environments/api-keys', { name: 'Reader', scopes: ['read'] })
  const visitor = await scene.visitor({ key })
  await visitor.goto('development/subscribers')
  await visitor.getByRole('row').nth(1).waitFor()
  assert.equal(await visitor.getByRole('checkbox').count(), 0)
  await visitor.getByRole('row').nth(1).focus()
  await visitor.keyboard.press('x')
  assert.equal(await bar(visitor).count(), 0)
  await close(visitor)
})

// Lists: numbers lead to what they count, a list stays while one walks through it, and it goes on to its end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../support/app.ts'
import { developmentKey, productionKey } from '../service.ts'
import { close, gone, heading, scene, shared, shown, skip } from '../story.ts'

/** What a page lists, as its title counts it. */
async function countOf(page: Json, title: string): Promise<number> {
  const words = page.getByRole('heading', { level: 1, name: new RegExp(`^${title} ?[\\d,]+`) })
  await words.waitFor()
  return Number(((await words.textContent()) ?? '').replaceAll(/\D/g, ''))
}

test('what was delivered leads to as many messages as it counts, in all and by channel', { skip }, async () => {
  // Where no story takes a message back: it was delivered, and is in no list any more.
  const visitor = await scene.visitor({ key: productionKey })
  const steps = [{ name: 'Bell', template: { type: 'in_app', content: 'Delivered' } }]
  const inProduction = (method: string, path: string, body: unknown) => scene.call(method, path, body, productionKey)
  await inProduction('POST', '/v1/workflows', { name: 'Delivered there', active: true, steps })
  for (const to of ['ada', 'grace', 'alan'])
    await inProduction('POST', '/v1/events/trigger', { name: 'delivered-there', to, payload: {} })
  await visitor.goto('production?range=7d')
  const delivered = visitor.getByRole('link', { name: /^Delivered [1-9]/ })
  const counted = Number(await delivered.locator('> span').nth(1).textContent())
  assert.ok(counted >= 3, `${counted}`)
  await delivered.click()
  await visitor.waitForURL(/activity\/messages\?status=sent/)
  assert.equal(await countOf(visitor, 'Messages'), counted)
  await visitor.goBack()
  const number = visitor
    .getByRole('row', { name: /^In-app/ })
    .getByRole('link')
    .nth(1)
  const ofChannel = Number(await number.textContent())
  await number.click()
  await visitor.waitForURL(/channel=in_app/)
  assert.equal(await countOf(visitor, 'Messages'), ofChannel)
  await visitor.getByRole('button', { name: 'Remove the filter Since' }).click()
  await gone(visitor.getByRole('button', { name: 'Remove the filter Since' }))
  await close(visitor)
})

test('what could not be sent leads to those messages alone, and from one to its notification', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  await scene.call('POST', '/v2/subscribers', { subscriberId: 'unreached', firstName: 'Una', lastName: 'Reached' })
  const { _id } = await scene.call('POST', '/v1/workflows', {
    name: 'By mail only',
    active: true,
    steps: [{ name: 'Mail', template: { type: 'email', subject: 'Hello', content: [{ type: 'text', content: 'x' }] } }],
  })
  await scene.call('POST', '/v1/events/trigger', { name: 'by-mail-only', to: 'unreached', payload: {} })
  await visitor.goto('development')
  const entry = visitor.getByRole('listitem').filter({ hasText: 'the subscriber has no e-mail address' })
  await entry.waitFor()
  const count = Number(await entry.getByRole('link').textContent())
  await entry.getByRole('link').click()
  await visitor.waitForURL(/activity\/messages\?status=warning&removed=with&channel=email&provider=none/)
  assert.equal(await countOf(visitor, 'Messages'), count)
  await visitor
    .getByRole('row', { name: /Skipped.*Una Reached/ })
    .first()
    .click()
  await visitor.waitForURL(/activity\/messages\/[0-9a-f-]{36}\?status=warning/)
  await visitor.getByRole('radio', { name: 'The message', checked: true }).waitFor()
  await scene.call('DELETE', `/v1/workflows/${_id}`)
  await close(visitor)
})

test('a list of more than a page stays as it is while notifications are opened from it', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  for (let n = 0; n < 70; n += 1)
    await scene.call('POST', '/v1/events/trigger', { name: 'order-shipped', to: 'alan', payload: { order: { id: n } } })
  await visitor.goto('development/activity?subscriber=alan')
  await visitor.getByRole('button', { name: 'Show more' }).waitFor()
  await visitor.getByRole('row').last().scrollIntoViewIfNeeded()
  await gone(visitor.getByRole('button', { name: 'Show more' }))
  const rows = await visitor.getByRole('row').count()
  assert.ok(rows > 60, `${rows}`)
  const last = visitor.getByRole('row').last()
  await last.focus()
  await visitor.keyboard.press('Enter')
  await visitor.waitForURL(/activity\/[0-9a-f-]{36}/)
  await visitor.getByRole('article', { name: 'Notification' }).waitFor()
  assert.equal(await visitor.getByRole('row').count(), rows, 'no row went')
  // The focus is still where it was: the next key walks on from there.
  await visitor.keyboard.press('k')
  await visitor.keyboard.press('Enter')
  assert.equal(await visitor.getByRole('row', { selected: true }).count(), 1)
  await visitor.getByRole('radio', { name: 'Data' }).click()
  await visitor.waitForURL(/tab=data/)
  await visitor.reload()
  await visitor.getByRole('radio', { name: 'Data', checked: true }).waitFor()
  await close(visitor)
})

test('rows change where they are when what they show has changed', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  const { _id } = await scene.call('POST', '/v1/workflows', {
    name: 'Waits a while',
    active: true,
    steps: [
      { name: 'Wait', template: { type: 'delay' }, metadata: { type: 'regular', amount: 2, unit: 'hours' } },
      { name: 'Bell', template: { type: 'in_app', content: 'done' } },
    ],
  })
  const event = await scene.call('POST', '/v1/events/trigger', { name: 'waits-a-while', to: 'grace', payload: {} })
  await visitor.goto(`development/activity?workflow=${_id}`)
  await visitor.getByRole('row', { name: /Waiting.*Waits a while/ }).waitFor()
  await shown(visitor, 'Live')
  await scene.call('DELETE', `/v1/events/trigger/${event.transactionId}`)
  await visitor.getByRole('row', { name: /Cancelled.*Waits a while/ }).waitFor()
  await scene.call('DELETE', `/v1/workflows/${_id}`)
  await close(visitor)
})

test('a point of the chart leads to what happened then, also from its table', { skip }, async () => {
  const { page } = shared
  await page.goto('development')
  await page.getByRole('radio', { name: 'Channels' }).click()
  await page.getByRole('button', { name: 'As a table' }).click()
  const table = page.getByRole('region', { name: 'Messages over time, as a table' })
  await table.getByRole('columnheader', { name: 'In-app' }).waitFor()
  await table.getByRole('row').last().getByRole('button').first().click()
  await page.waitForURL(/activity\/messages\?.*after=.*before=/)
  await heading(page, 'Messages')
  await page.goBack()
  await page.getByRole('radio', { name: 'Time to deliver' }).click()
  await page.getByRole('figure', { name: 'Time to deliver' }).getByText('In-app').waitFor()
})

test('keys lead from page to page, and arrows choose within a group', { skip }, async () => {
  const { page } = shared
  await page.goto('development')
  await heading(page, 'Overview')
  await page.keyboard.press('g')
  await page.keyboard.press('s')
  await heading(page, 'Subscribers')
  await page.keyboard.press('/')
  await page.keyboard.type('Grace')
  await page.keyboard.press('Enter')
  await page.waitForURL(/q=Grace/)
  await page.getByRole('row').nth(1).focus()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Go to Workflows').waitFor()
  await page.keyboard.press('Escape')
  await page.goto('development')
  const day = page.getByRole('radio', { name: '24 hours' })
  await day.focus()
  await page.keyboard.press('ArrowRight')
  await page.waitForURL(/range=7d/)
  await page.getByRole('radio', { name: '7 days', checked: true }).waitFor()
  assert.equal(await page.evaluate('document.activeElement.textContent'), '7 days')
  await page.getByRole('button', { name: 'Slim navigation' }).click()
  await page.getByRole('link', { name: 'Workflows' }).click()
  await heading(page, 'Workflows')
  await page.getByRole('button', { name: 'Slim navigation' }).click()
})

test('text is copied also where a browser has no clipboard', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  // As on a page that came over plain http from another machine.
  await visitor.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
  await visitor.goto('development/subscribers/ada')
  await visitor.getByRole('button', { name: /ada.*Copy/ }).click()
  await visitor.getByText('Copied').first().waitFor({ state: 'attached' })
  await visitor.goto('development/subscribers')
  const search = visitor.getByLabel('Search subscribers')
  await search.focus()
  await visitor.keyboard.press('Control+v')
  assert.equal(await search.inputValue(), 'ada')
  await close(visitor)
})

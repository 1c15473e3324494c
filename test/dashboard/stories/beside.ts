// A detail beside its list: on wide screens both are there, and one walks through the list; on narrow ones it has the page.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../support/app.ts'
import { developmentKey } from '../service.ts'
import { close, gone, scene, shared, skip, until } from '../story.ts'

const detail = (page: Json): Json => page.getByRole('article', { name: 'Notification' })
const share = async (page: Json): Promise<number> => {
  const [list, one] = [await page.getByRole('table').first().boundingBox(), await detail(page).boundingBox()]
  return one.width / (list.width + one.width)
}

for (const path of ['activity', 'activity/messages']) {
  test(`${path}: a notification opens beside the list, with 40 % of it, and the next by the keyboard`, {
    skip,
  }, async () => {
    const visitor = await scene.visitor({ key: developmentKey, width: 1600 })
    await visitor.goto(`development/${path}`)
    const rows = visitor.getByRole('row')
    await rows.nth(2).focus()
    await visitor.keyboard.press('Enter')
    await detail(visitor).waitFor()
    const part = await share(visitor)
    assert.ok(part > 0.36 && part < 0.46, `${part}`)
    const first = visitor.url()
    await visitor.keyboard.press('j')
    await visitor.keyboard.press('Enter')
    await visitor.waitForURL((url: URL) => url.href !== first)
    await visitor.getByRole('row', { selected: true }).waitFor()
    assert.equal(await visitor.getByRole('row', { selected: true }).count(), 1)
    assert.deepEqual(await scene.violations(visitor), [])
    const chosen = await visitor.getByRole('row', { selected: true }).textContent()
    await visitor.getByRole('button', { name: 'Close the notification' }).click()
    await gone(detail(visitor))
    // One goes on where one was.
    await until(visitor, `document.activeElement.tagName === 'TR'`)
    const wordsOf = (text: string) => text.replaceAll(/\d+ \w+\. ago|just now|\s/g, '')
    const focused = await visitor.evaluate('document.activeElement.textContent')
    assert.ok(wordsOf(focused).startsWith(wordsOf(chosen).slice(0, 12)), `${focused} and not ${chosen}`)
    await close(visitor)
  })
}

test('a message opens what the person saw, and the list keeps its filters', { skip }, async () => {
  const { page } = shared
  await page.goto('development/activity/messages?channel=email')
  await page.getByRole('row').nth(1).click()
  await page.waitForURL(/activity\/messages\/[0-9a-f-]{36}\?channel=email&message=/)
  await page.getByRole('radio', { name: /message/i, checked: true }).waitFor()
  await page.getByRole('radio', { name: 'What happened' }).click()
  await page.waitForURL(/tab=steps/)
  await page.reload()
  await page.getByRole('radio', { name: 'What happened', checked: true }).waitFor()
  await page.getByRole('row', { selected: true }).waitFor()
  await page.getByRole('button', { name: 'Close the notification' }).click()
  await page.waitForURL(/activity\/messages\?channel=email$/)
})

test('on a phone a message has the page to itself, and Back leads to the list', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey, width: 360, dark: true })
  await visitor.goto('development/activity/messages')
  await visitor.getByRole('row').nth(1).click()
  await detail(visitor).waitFor()
  assert.equal(await visitor.getByRole('table', { name: 'Messages' }).isVisible(), false)
  assert.equal(await visitor.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'), 0)
  assert.deepEqual(await scene.violations(visitor), [])
  await visitor.goBack()
  await visitor.getByRole('row').nth(1).waitFor()
  await close(visitor)
})

test('a delivery of a webhook opens beside the others', { skip }, async () => {
  const { page } = shared
  const { endpointId } = shared.ids
  for (let n = 0; n < 2; n += 1) await scene.call('POST', `/v1/webhook-endpoints/${endpointId}/test`)
  await page.goto(`development/webhooks/${endpointId}`)
  await page
    .getByRole('row', { name: /webhook\.test/ })
    .nth(1)
    .waitFor()
  await page
    .getByRole('row', { name: /webhook\.test/ })
    .first()
    .focus()
  await page.keyboard.press('Enter')
  await page.getByRole('article', { name: 'Delivery' }).waitFor()
  assert.equal(await page.getByRole('table', { name: 'Deliveries' }).isVisible(), true)
  assert.deepEqual(await scene.violations(page), [])
})

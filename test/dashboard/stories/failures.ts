// Lists of failures that are longer than what is read of them, and what a notification says of steps that failed or were skipped.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../support/app.ts'
import { layoutFaults } from '../layout.ts'
import { developmentKey } from '../service.ts'
import { close, scene, skip, until } from '../story.ts'

const readMax = 10_000
const failedAt = '2026-01-02T03:04:05.678Z'

/** The service as it answers where there are more failures than it reads: none are counted. */
async function withTooMany(visitor: Json): Promise<void> {
  const one = {
    notificationId: 'gone',
    failedAt,
    channel: 'sms',
    provider: 'twilio',
    code: 'providerError',
    detail: 'No',
  }
  await visitor.route(/\/v1\/failures\?/, (call: Json) => {
    const page = Number(new URL(call.request().url()).searchParams.get('page') ?? 0)
    const data = Array.from({ length: 50 }, (_, place) => ({ ...one, _id: `${page} ${place}` }))
    return call.fulfill({ json: { data, page, pageSize: 50, hasMore: page === 0 } })
  })
}

test('a list of failures that ends before the last one says so, and leads to older ones', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  await withTooMany(visitor)
  await visitor.goto('development/activity/failures?provider=twilio')
  const words = visitor.getByText(`Only the newest ${readMax.toLocaleString('en')} failures of a time are read`)
  await words.waitFor()
  await visitor.getByRole('button', { name: 'Show more' }).click()
  await visitor.getByRole('heading', { level: 1, name: /^Failures ?100\+$/ }).waitFor()
  assert.deepEqual(await scene.violations(visitor), [])
  await visitor.setViewportSize({ width: 360, height: 860 })
  await until(visitor, 'innerWidth === 360')
  assert.deepEqual(await visitor.evaluate(layoutFaults(true)), [])
  await visitor.getByRole('link', { name: 'Show older ones' }).click()
  await visitor.waitForURL((url: URL) => url.searchParams.get('before') === failedAt)
  assert.equal(new URL(visitor.url()).searchParams.get('provider'), 'twilio')
  await visitor.getByRole('button', { name: /^Remove the filter Until/ }).waitFor()
  await visitor.goto('development/activity/failures?redriven=with')
  await visitor.getByRole('heading', { level: 1, name: /^Failures ?10,000\+$/ }).waitFor()
  await visitor.getByText(/choose those that were sent again, or those that were not/).waitFor()
  await close(visitor)
})

test('when more failed than is listed, their number leads to the list that counts say it of', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  await visitor.route(/\/v1\/failures\/causes/, (call: Json) => {
    const data = [{ channel: 'sms', provider: 'twilio', code: 'providerError', detail: 'No', count: readMax }]
    const messages = { total: 0, isCapped: false, data: [] }
    return call.fulfill({ json: { steps: { total: readMax, isCapped: true, data }, messages } })
  })
  await visitor.route(/\/v1\/counts\?.*measure=steps/, async (call: Json) => {
    const response = await call.fetch()
    const body = await response.json()
    await call.fulfill({ response, json: { ...body, total: 12_345 } })
  })
  await visitor.goto('development')
  await visitor.getByRole('link', { name: /^Failed 12,345/ }).click()
  await visitor.waitForURL(/failures\?redriven=with&after=/)
  await close(visitor)
})

test('a step that asked no provider names none, and its message is skipped as in the list', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  await visitor.goto('development/activity/messages?channel=push')
  await visitor.getByRole('row', { name: /Skipped.*Payment failed/ }).click()
  const detail = visitor.getByRole('article', { name: 'Notification' })
  const message = detail.getByRole('region', { name: 'Push message' })
  await message.getByText('Skipped', { exact: true }).waitFor()
  assert.equal(await detail.getByText('Warning', { exact: true }).count(), 0)
  await detail.getByRole('radio', { name: 'What happened' }).click()
  await detail
    .getByText(/the subscriber has no device/)
    .first()
    .waitFor()
  assert.equal(await detail.getByText('Platform Inbox').count(), 0)
  await close(visitor)
})

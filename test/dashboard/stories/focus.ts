// Where the focus is after something was done to an entry of a list: in its place, so that the next key goes on from there.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { developmentKey } from '../service.ts'
import { close, gone, news, scene, skip } from '../story.ts'
import { bar, focused, people, selected } from './chosen.ts'

test('in the outbox the focus is in the place of a message that was deleted', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  const ids = await people('outboxed', 4)
  const steps = [{ name: 'SMS', template: { type: 'sms', content: 'In its place, {{ subscriber.subscriberId }}' } }]
  const { _id } = await scene.call('POST', '/v1/workflows', { name: 'Kept in place', active: true, steps })
  const send = (to: string) => scene.call('POST', '/v1/events/trigger', { name: 'kept-in-place', to, payload: {} })
  for (const to of ids) await send(to)
  await visitor.goto('development/outbox?text=In its place')
  const list = visitor.getByRole('list', { name: 'Captured messages' })
  const entries = list.getByRole('link', { name: /In its place/ })
  await entries.nth(3).waitFor()
  const words = async (place: number) => /outboxed-\d/.exec(await entries.nth(place).innerText())?.[0] ?? ''
  const [second, third, fourth] = [await words(1), await words(2), await words(3)]
  const entry = (name: string) => list.getByRole('link', { name: new RegExp(name) })
  const remove = async () => {
    await visitor.keyboard.press('x')
    await selected(visitor, 1)
    await visitor.keyboard.press('.')
    await focused(bar(visitor).getByRole('button', { name: 'Delete' }))
    await visitor.keyboard.press('Enter')
    await visitor.getByLabel('Type delete 1 to confirm').fill('delete 1')
    await visitor.keyboard.press('Enter')
    await news(visitor, 'Delete, 1 message: 1 done')
  }
  await entry(second).focus()
  await remove()
  await gone(entry(second))
  await focused(entry(third))
  // The last one leaves it to the one before.
  await visitor.keyboard.press('j')
  await focused(entry(fourth))
  await remove()
  await gone(entry(fourth))
  await focused(entry(third))
  // A new message comes above it: the focus stays with the one that has it.
  await send('outboxed-0')
  await entries.nth(2).waitFor()
  await focused(entry(third))
  await close(visitor)
  await scene.call('DELETE', `/v1/workflows/${_id}`)
})

test('in a topic the focus is in the place of a subscriber that was removed, also when it is taken back', {
  skip,
}, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  const ids = await people('member', 4)
  await scene.call('POST', '/v2/topics', { key: 'in-place', name: 'In place' })
  await scene.call('POST', '/v2/topics/in-place/subscriptions', { subscriptions: ids })
  await visitor.goto('development/topics/in-place')
  const members = visitor.getByRole('region', { name: 'Members' }).getByRole('listitem')
  await members.nth(3).waitFor()
  const names = (await members.getByRole('link').allInnerTexts()) as string[]
  const entry = (place: number) => members.getByRole('link', { name: names[place] ?? '' })
  await visitor.getByRole('button', { name: `Remove ${names[1]?.split(' ')[0]}` }).focus()
  await visitor.keyboard.press('Enter')
  await gone(entry(1))
  await focused(entry(2))
  await visitor.locator('.news').getByRole('button', { name: 'Undo' }).click()
  await entry(1).waitFor()
  await entry(2).focus()
  // Several at once, by the keyboard alone.
  await visitor.keyboard.press('x')
  await visitor.keyboard.press('Shift+ArrowDown')
  await selected(visitor, 2)
  await visitor.keyboard.press('.')
  await focused(bar(visitor).getByRole('button', { name: 'Remove' }))
  await visitor.keyboard.press('Enter')
  await visitor.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await news(visitor, 'Remove, 2 subscribers: 2 done')
  await gone(entry(2))
  const left = (await members.getByRole('link').allInnerTexts()) as string[]
  assert.equal(left.length, 2)
  await focused(members.getByRole('link').last())
  await close(visitor)
  await scene.call('DELETE', '/v2/topics/in-place')
})

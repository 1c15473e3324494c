// The bar of what can be done with the selection: reached and left by the keyboard, heard, and one line on a phone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { developmentKey } from '../service.ts'
import { close, gone, news, scene, skip, until } from '../story.ts'
import { bar, focused, people, selected, tick } from './chosen.ts'

test('a key leads from a row to what can be done with the selection, and Escape back to the row', {
  skip,
}, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  await people('dotted', 3)
  await visitor.goto('development/subscribers?q=dotted-')
  const row = visitor.getByRole('row', { name: /dotted-1 Many/ })
  const action = bar(visitor).getByRole('button', { name: 'Add to a topic' })
  await row.focus()
  // Without a selection there is nowhere to go.
  await visitor.keyboard.press('.')
  await focused(row)
  await visitor.keyboard.press('x')
  await visitor.getByRole('status').filter({ hasText: '1 subscriber selected. Press the full stop key for' }).waitFor()
  await visitor.keyboard.press('Shift+ArrowDown')
  await visitor.getByRole('status').filter({ hasText: '2 subscribers selected.' }).waitFor()
  await visitor.keyboard.press('.')
  await focused(action)
  await visitor.keyboard.press('Escape')
  await gone(bar(visitor))
  await focused(visitor.getByRole('row', { name: /dotted-0 Many/ }))
  await gone(visitor.getByRole('status').filter({ hasText: 'selected' }))
  // From where one is, one walks on.
  await visitor.keyboard.press('k')
  await focused(row)
  // In a field it is text.
  await visitor.keyboard.press('x')
  await selected(visitor, 1)
  await visitor.getByLabel('Search subscribers').focus()
  await visitor.keyboard.press('End')
  await visitor.keyboard.type('.')
  assert.equal(await visitor.getByLabel('Search subscribers').inputValue(), 'dotted-.')
  await visitor.keyboard.press('Backspace')
  await row.focus()
  await visitor.keyboard.press('?')
  const help = visitor.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await help.getByText('What to do with the selected rows').waitFor()
  await visitor.keyboard.press('Escape')
  await focused(row)
  await close(visitor)
})

test('by the keyboard alone something is done to many, and one is back at the row', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  await people('typed', 2)
  await visitor.goto('development/subscribers?q=typed-')
  const row = visitor.getByRole('row', { name: /typed-0 Many/ })
  const action = bar(visitor).getByRole('button', { name: 'Add to a topic' })
  await row.focus()
  await visitor.keyboard.press('Control+a')
  await selected(visitor, 2)
  await visitor.keyboard.press('.')
  await focused(action)
  await visitor.keyboard.press('Enter')
  const topic = visitor.getByRole('dialog').getByLabel('Topic', { exact: true })
  await focused(topic)
  // Whoever thinks better of it is where they were.
  await visitor.keyboard.press('Escape')
  await focused(action)
  await visitor.keyboard.press('Enter')
  await focused(topic)
  await visitor.keyboard.type('by-keys')
  await visitor.keyboard.press('Enter')
  await news(visitor, 'Add to a topic, 2 subscribers: 2 done')
  await gone(bar(visitor))
  await focused(row)
  assert.equal((await scene.call('GET', '/v2/topics/by-keys/subscriptions')).data.length, 2)
  // A row that is deleted leaves the focus to the one in its place.
  const other = visitor.getByRole('row', { name: /typed-1 Many/ })
  await visitor.keyboard.press('x')
  await visitor.keyboard.press('.')
  await focused(action)
  await visitor.keyboard.press('Tab')
  await visitor.keyboard.press('Enter')
  await visitor.getByLabel('Type erase 1 to confirm').fill('erase 1')
  await visitor.keyboard.press('Enter')
  await gone(row)
  await focused(other)
  await close(visitor)
})

for (const dark of [false, true]) {
  test(`on a phone the bar is one line that covers no row, in the ${dark ? 'dark' : 'light'} theme`, {
    skip,
  }, async () => {
    const visitor = await scene.visitor({ key: developmentKey, width: 360, dark })
    await people('narrow', 24)
    await visitor.goto('development/subscribers?q=narrow-')
    await tick(visitor, 'Select all subscribers that are loaded').check()
    await selected(visitor, 24)
    const box = await bar(visitor).boundingBox()
    assert.ok(box.x >= 0 && box.x + box.width <= 360, JSON.stringify(box))
    assert.ok(box.height <= 56, `${box.height} pixels are more than one line`)
    const cut = await visitor.evaluate(
      `[...document.querySelectorAll('[data-selection-bar], [data-selection-bar] *')].filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1).length`,
    )
    assert.equal(cut, 0, 'nothing in it is cut off')
    assert.deepEqual(await scene.violations(visitor), [])
    // The last row lies above it, at the end of the page and with the focus.
    const last = visitor.getByRole('row').last()
    await last.focus()
    await until(
      visitor,
      `document.querySelector('tbody tr:last-child').getBoundingClientRect().bottom <= document.querySelector('[data-selection-bar]').getBoundingClientRect().top`,
    )
    assert.equal(
      await visitor.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
      0,
    )
    await visitor.keyboard.press('.')
    const actions = bar(visitor).getByRole('button', { name: 'Actions' })
    await focused(actions)
    await visitor.keyboard.press('Enter')
    const menu = visitor.getByRole('menu')
    await menu.getByRole('menuitem', { name: 'Erase' }).waitFor()
    // Escape closes the menu first, and keeps the selection.
    await visitor.keyboard.press('Escape')
    await gone(menu)
    await focused(actions)
    await selected(visitor, 24)
    await visitor.keyboard.press('Enter')
    await menu.getByRole('menuitem', { name: 'Add to a topic' }).click()
    await visitor.getByRole('dialog').getByText('24 subscribers').waitFor()
    await visitor.keyboard.press('Escape')
    await focused(actions)
    await visitor.keyboard.press('Escape')
    await gone(bar(visitor))
    await focused(last)
    await close(visitor)
  })
}

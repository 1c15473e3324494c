// Signing in, and what happens without it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../support/app.ts'
import { fill } from '../sample-data.ts'
import { developmentKey, productionKey } from '../service.ts'
import { close, gone, heading, scene, shared, shown, skip, written } from '../story.ts'

test('the link of the start signs in once, and leads to a first notification in one click', { skip }, async () => {
  const visitor = await scene.visitor()
  const link = scene.signInLink()
  await visitor.goto(link)
  await heading(visitor, 'Send your first notification')
  await visitor.waitForURL((url: URL) => url.hash === '')
  await visitor.getByRole('button', { name: 'Send the notification' }).click()
  await visitor
    .getByLabel('Inbox')
    .getByText(/Order \d+ is on its way, Ada/)
    .waitFor()
  await heading(visitor, /Order \d+ is on its way/)
  const mail = visitor.frameLocator('iframe[title*="is on its way"]').frameLocator('iframe')
  await mail.getByText('left our warehouse today').last().waitFor()
  await visitor.getByRole('link', { name: 'See what happened' }).click()
  await shown(visitor, 'What happened')
  const other = await scene.visitor()
  await other.goto(link)
  await shown(other, /was already used/)
  await close(other, 401)
  await close(visitor)
})

test('a key that may do everything signs in, and the bare address leads on', { skip }, async () => {
  shared.ids = await fill(scene)
  shared.page = await scene.visitor({ key: developmentKey })
  const { page } = shared
  await page.goto('')
  await heading(page, 'Overview')
  await page.waitForURL(/\/development$/)
})

test('a wrong key is refused in words', { skip }, async () => {
  const visitor = await scene.visitor()
  await visitor.goto('sign-in')
  await visitor.getByLabel('API key').fill('not-a-key-of-anybody')
  await visitor.getByRole('button', { name: 'Sign in' }).click()
  await visitor.getByRole('alert').getByText('API Key not found').waitFor()
  await close(visitor, 401)
})

test('who is not signed in comes back to the page they asked for', { skip }, async () => {
  const visitor = await scene.visitor()
  await visitor.goto(`development/activity/${shared.ids.notificationId}`)
  await visitor.getByLabel('API key').fill(developmentKey)
  await visitor.getByRole('button', { name: 'Sign in' }).click()
  await heading(visitor, /Weekly report/)
  await close(visitor)
})

test('Production is its own: another session, another colour, nothing of Development', { skip }, async () => {
  const { page } = shared
  await page.goto('development')
  await page.getByRole('button', { name: /Development environment/ }).click()
  await page.getByRole('menuitem', { name: /Production/ }).click()
  await page.getByLabel('API key').fill(productionKey)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: /Production environment/ }).waitFor()
  await page.waitForURL(/\/production/)
  await page.goto('production/activity')
  await shown(page, 'No activity yet')
  await page.goto('development/activity')
  await page.getByRole('row', { name: /Ada/ }).first().waitFor()
})

test('a session that has ended asks to sign in, and the page comes back', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  await visitor.context().clearCookies()
  // By its address: the page may have noticed by itself, and then there is nothing to click on.
  await visitor.goto('development/subscribers')
  await heading(visitor, /^Sign in/)
  await visitor.getByLabel('API key').fill(developmentKey)
  await visitor.getByRole('button', { name: 'Sign in' }).click()
  await heading(visitor, 'Subscribers')
  await close(visitor, 401)
})

test('a session that ends before a save keeps what was typed, and the page comes back with it', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  const steps = [{ name: 'Bell', template: { type: 'in_app', content: 'first words' } }]
  const { _id } = await scene.call('POST', '/v1/workflows', { name: 'Typed for long', active: true, steps })
  await visitor.goto(`development/workflows/${_id}`)
  const text = visitor.getByLabel('Text', { exact: true })
  await written(text, 'first words')
  await text.fill('words of an hour')
  await shown(visitor, 'Not saved')
  // Another tab signed out, or the twelve hours are over: the page learns it from the answer to the save, or from the preview that it
  // asked for before. Then the button is gone, and must not be waited for: it comes back.
  await visitor.context().clearCookies()
  const save = visitor.getByRole('button', { name: 'Save', exact: true })
  await save.evaluateAll(([button]: Json[]) => button?.click())
  await heading(visitor, /^Sign in/)
  await visitor.getByLabel('API key').fill(developmentKey)
  await visitor.getByRole('button', { name: 'Sign in' }).click()
  await visitor.waitForURL(new RegExp(`/development/workflows/${_id}`))
  await written(text, /^words of an hour$/)
  await shown(visitor, 'Not saved')
  const stored = async () => (await scene.call('GET', `/v1/workflows/${_id}`)).steps[0].template.content
  assert.equal(await stored(), 'first words')
  await visitor.getByRole('button', { name: 'Save', exact: true }).click()
  await shown(visitor, /Saved\. New events/)
  assert.equal(await stored(), 'words of an hour')
  await scene.call('DELETE', `/v1/workflows/${_id}`)
  await close(visitor, 401)
})

test('a service that cannot be reached is said so, with a way to try again', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  await visitor.getByRole('link', { name: 'Topics' }).click()
  await heading(visitor, 'Topics')
  await visitor.route('**/v1/**', (route: Json) => route.abort())
  await visitor.getByRole('link', { name: 'Integrations' }).click()
  await shown(visitor, 'No connection')
  await visitor.unroute('**/v1/**')
  await visitor.getByRole('button', { name: 'Try again' }).click()
  await heading(visitor, 'E-mail')
  await close(visitor, /ERR_FAILED/)
})

test('who may only read sees everything and is offered no change', { skip }, async () => {
  const { key } = await scene.call('POST', '/v1/environments/api-keys', { name: 'Reader', scopes: ['read'] })
  const visitor = await scene.visitor({ key })
  await visitor.goto('development/workflows')
  await visitor
    .getByRole('row', { name: /Order shipped/ })
    .first()
    .waitFor()
  await gone(visitor.getByRole('button', { name: 'New workflow' }))
  await visitor.goto('development/settings')
  await shown(visitor, 'You may not see this')
  await close(visitor, 403)
})

test('an address that is no page says so', { skip }, async () => {
  const { page } = shared
  await page.goto('development/nothing-here')
  await shown(page, 'There is no such page')
})

// Smaller things that people rely on: taking back, cancelling, copying, exporting, themes, signing out.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../support/app.ts'
import { developmentKey } from '../service.ts'
import { close, disabled, heading, scene, shared, shown, skip } from '../story.ts'

test('`posthorn dashboard` makes a link to another environment', { skip }, async () => {
  const { stdout } = await scene.command('dashboard', '--environment', 'Production', '--url', scene.url)
  const visitor = await scene.visitor()
  await visitor.goto(stdout.trim())
  await heading(visitor, 'Send your first notification')
  await visitor.waitForURL(/\/production\/start/)
  await close(visitor)
})

test('what waits in a digest is cancelled, after it was said what that does', { skip }, async () => {
  const { page } = shared
  await page.goto('development/activity')
  await page.getByRole('row', { name: /New comment/ }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page
    .getByRole('dialog')
    .getByText(/are not affected/)
    .waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await shown(page, 'The waiting steps are cancelled')
})

test('an in-app message is taken back', { skip }, async () => {
  const { page } = shared
  await page.goto('development/activity?subscriber=barbara')
  await page.getByRole('row', { name: /Order shipped/ }).click()
  await page.getByRole('button', { name: 'Take back' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Take back' }).click()
  await shown(page, 'The notification was taken back')
})

test('a notification is shown as the call that triggers it again', { skip }, async () => {
  const { page } = shared
  await page.goto(`development/activity/${shared.ids.notificationId}`)
  await page.getByRole('radio', { name: 'Data' }).click()
  await page
    .getByText(/events\/trigger[\s\S]*"name": "weekly-report"/)
    .first()
    .waitFor()
})

test('a test is sent from the editor, and steps are moved, duplicated and removed', { skip }, async () => {
  const { page } = shared
  await page.goto(`development/workflows/${shared.ids.workflowId}`)
  await page.getByRole('button', { name: 'Send a test' }).click()
  await shown(page, /sent as a test/)
  const isFirst = (name: string) =>
    page
      .getByRole('navigation', { name: 'Steps' })
      .getByRole('button', { name: /In-app|E-mail/ })
      .first()
      .filter({ hasText: name })
      .waitFor()
  const menu = async (step: string, item: string) => {
    await page.getByRole('button', { name: `What to do with ${step}`, exact: true }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await menu('Bell', 'Move down')
  await isFirst('Mail')
  await menu('Bell', 'Duplicate')
  await page
    .getByRole('button', { name: /Bell copy/ })
    .first()
    .waitFor()
  await menu('Bell copy', 'Remove')
  await page.getByRole('button', { name: 'Discard' }).click()
  await isFirst('Bell')
})

test('a person is exported as a file', { skip }, async () => {
  const { page } = shared
  await page.goto('development/subscribers/ada')
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export' }).click(),
  ])
  assert.equal(file.suggestedFilename(), 'ada.ndjson')
})

test('the theme that was chosen stays', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  await visitor.getByRole('button', { name: /Account and theme/ }).click()
  await visitor.getByRole('menuitem', { name: 'Dark' }).click()
  await visitor.locator('html[data-theme=dark]').waitFor()
  await visitor.reload()
  await heading(visitor, 'Overview')
  await visitor.locator('html[data-theme=dark]').waitFor()
  await close(visitor)
})

test('signing out ends the session here and at the service', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  const cookies = await visitor.context().cookies()
  assert.ok(cookies.every((one: { httpOnly: boolean; sameSite: string }) => one.httpOnly && one.sameSite === 'Strict'))
  await visitor.getByRole('button', { name: /Account and theme/ }).click()
  const ended = visitor.waitForResponse(
    (answer: Json) => answer.request().method() === 'DELETE' && answer.url().endsWith('/v1/dashboard/sessions'),
  )
  await visitor.getByRole('menuitem', { name: 'Sign out' }).click()
  await heading(visitor, /^Sign in/)
  await ended
  assert.deepEqual(await visitor.context().cookies(), [])
  await visitor.context().addCookies(cookies)
  await visitor.goto('development')
  await heading(visitor, /^Sign in/)
  await close(visitor)
})

test('the outbox is emptied by typing the word', { skip }, async () => {
  const { page } = shared
  await page.goto('development/outbox')
  await page.getByRole('button', { name: 'Empty the outbox' }).click()
  await disabled(page.getByRole('dialog'), 'Empty the outbox')
  await page.getByLabel('Type empty to confirm').fill('empty')
  await page.getByRole('dialog').getByRole('button', { name: 'Empty the outbox' }).click()
  await shown(page, 'No captured messages yet')
})

// Smaller things that people rely on: taking back, cancelling, copying, exporting, themes, signing out.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { developmentKey } from '../service.ts'
import { heading, scene, shared, shown, skip } from '../story.ts'

test('`posthorn dashboard` makes a link to another environment', { skip }, async () => {
  const { stdout } = await scene.command('dashboard', '--environment', 'Production', '--url', scene.url)
  const visitor = await scene.visitor()
  await visitor.goto(stdout.trim())
  await heading(visitor, 'Send your first notification')
  assert.match(visitor.url(), /\/production\/start/)
  await visitor.context().close()
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
  const names = () =>
    page
      .getByRole('navigation', { name: 'Steps' })
      .getByRole('button', { name: /In-app|E-mail/ })
      .allInnerTexts()
  const menu = async (step: string, item: string) => {
    await page.getByRole('button', { name: `What to do with ${step}`, exact: true }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await menu('Bell', 'Move down')
  assert.match((await names())[0], /Mail/)
  await menu('Bell', 'Duplicate')
  await page
    .getByRole('button', { name: /Bell copy/ })
    .first()
    .waitFor()
  await menu('Bell copy', 'Remove')
  await page.getByRole('button', { name: 'Discard' }).click()
  assert.match((await names())[0], /Bell/)
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
  await visitor.reload()
  await heading(visitor, 'Overview')
  assert.equal(await visitor.evaluate('document.documentElement.dataset.theme'), 'dark')
  await visitor.context().close()
})

test('signing out ends the session here and at the service', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  const cookies = await visitor.context().cookies()
  assert.ok(cookies.every((one: { httpOnly: boolean; sameSite: string }) => one.httpOnly && one.sameSite === 'Strict'))
  await visitor.getByRole('button', { name: /Account and theme/ }).click()
  await visitor.getByRole('menuitem', { name: 'Sign out' }).click()
  await heading(visitor, /^Sign in/)
  for (let tries = 0; tries < 50 && (await visitor.context().cookies()).length > 0; tries += 1)
    await visitor.waitForTimeout(50)
  assert.deepEqual(await visitor.context().cookies(), [])
  await visitor.context().addCookies(cookies)
  await visitor.goto('development')
  await heading(visitor, /^Sign in/)
  // A call that was on its way may be refused.
  scene.complaints.splice(0)
  await visitor.context().close()
})

test('the outbox is emptied by typing the word', { skip }, async () => {
  const { page } = shared
  await page.goto('development/outbox')
  await page.getByRole('button', { name: 'Empty the outbox' }).click()
  const confirm = page.getByRole('dialog').getByRole('button', { name: 'Empty the outbox' })
  assert.equal(await confirm.isDisabled(), true)
  await page.getByLabel('Type empty to confirm').fill('empty')
  await confirm.click()
  await shown(page, 'No captured messages yet')
})

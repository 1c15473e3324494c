// Settings of the environment itself, and what a person's page has beside the profile.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../support/app.ts'
import { developmentKey } from '../service.ts'
import { close, disabled, gone, heading, leave, scene, shared, shown, skip } from '../story.ts'

test('an environment is created, opened, renamed, and deleted by typing its name', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  await visitor.goto('development/settings/environments')
  await visitor.getByRole('button', { name: 'New environment' }).click()
  await visitor.getByRole('dialog').getByLabel('Name').fill('Staging')
  await visitor.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await visitor.getByRole('dialog').getByText(/^ph_/).waitFor()
  await visitor.getByRole('button', { name: 'I have it' }).click()
  const entry = visitor.getByRole('listitem').filter({ hasText: 'Staging' })
  await entry.getByRole('button', { name: 'Open' }).click()
  await visitor.waitForURL(/\/staging$/)
  await visitor.goto('staging/settings/environments')
  // Development and Production are always there.
  assert.equal(await visitor.getByRole('button', { name: 'What to do with Development' }).count(), 0)
  await visitor.getByRole('button', { name: 'What to do with Staging' }).click()
  await visitor.getByRole('menuitem', { name: 'Rename' }).click()
  await visitor.getByRole('dialog').getByLabel('Name').fill('Acceptance')
  await visitor.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  await visitor.waitForURL(/\/acceptance\/settings\/environments$/)
  await visitor.getByRole('button', { name: 'What to do with Acceptance' }).click()
  await visitor.getByRole('menuitem', { name: 'Delete' }).click()
  await disabled(visitor.getByRole('dialog'), 'Delete')
  await visitor.getByLabel('Type Acceptance to confirm').fill('Acceptance')
  await visitor.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await heading(visitor, 'Overview')
  await visitor.goto('development/settings/environments')
  await heading(visitor, 'Deleted')
  const left: { name: string }[] = await scene.call('GET', '/v1/environments')
  assert.deepEqual(left.map(({ name }) => name).toSorted(), ['Development', 'Production'])
  await close(visitor)
})

test('an environment captures what it would send, until that is switched off', { skip }, async () => {
  const { page } = shared
  await page.goto('development/settings/environments')
  const capture = page.getByRole('switch', { name: /Capture every message/ })
  await capture.click()
  await shown(page, 'Messages are captured from now on')
  await shown(page, 'Captures everything')
  assert.equal((await scene.call('GET', '/v1/environments/me')).configurations.capture, true)
  await capture.click()
  await gone(page.getByText('Captures everything'))
})

test('the signing secret is hidden until it is asked for, and rotated', { skip }, async () => {
  const { page } = shared
  const before = (await scene.call('GET', '/v1/environments/me')).signingSecret
  await page.goto('development/settings/signing')
  await shown(page, 'The secret is hidden')
  assert.equal(await page.getByText(before).count(), 0)
  await page.getByRole('button', { name: 'Show it' }).click()
  await shown(page, before)
  await page.getByRole('button', { name: 'Rotate the secret' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  await page
    .getByRole('dialog')
    .getByText(/^whsec_/)
    .waitFor()
  await page.getByRole('button', { name: 'I have it' }).click()
  await shown(page, /Signs as well until/)
  const { signingSecret } = await scene.call('GET', '/v1/environments/me')
  assert.notEqual(signingSecret, before)
  await page.getByRole('group', { name: 'secret 2' }).getByText(signingSecret).waitFor()
})

test('retention says how long data is kept and what goes next', { skip }, async () => {
  const { page } = shared
  await page.goto('development/settings/retention')
  await shown(page, 'For how long')
  await shown(page, 'Oldest event here')
})

test('a key may get several scopes, and says when it was last used', { skip }, async () => {
  const { page } = shared
  await page.goto('development/settings')
  await page.getByRole('columnheader', { name: 'Last used' }).waitFor()
  await page.getByRole('button', { name: 'New key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Two scopes')
  await dialog.getByRole('checkbox', { name: /^Read the outbox/ }).check()
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText(/^ph_/).waitFor()
  await page.getByRole('button', { name: 'I have it' }).click()
  await page.getByRole('row', { name: /Two scopes.*Trigger events, Read the outbox.*Never/ }).waitFor()
})

test('a person has topics, an inbox and hours', { skip }, async () => {
  const { page } = shared
  await page.goto('development/subscribers/grace?tab=topics')
  await page.getByRole('link', { name: 'Release notes' }).waitFor()
  await page.getByRole('button', { name: 'Remove from Release notes' }).click()
  await shown(page, 'In no topic')
  await page.getByLabel('Add to a topic').fill('release-notes')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('link', { name: 'Release notes' }).waitFor()
  await page.getByRole('radio', { name: 'Inbox' }).click()
  await shown(page, /is on its way, Grace/)
  await page.getByRole('radio', { name: 'Archived' }).click()
  await shown(page, 'Nothing here')
  await page.getByRole('radio', { name: 'Preferences' }).click()
  await page.getByRole('switch', { name: /Only at certain hours/ }).click()
  await page.getByLabel('Monday, from').fill('10:30')
  const saved = page.waitForResponse((answer: Json) => answer.request().method() === 'PATCH')
  await page.getByRole('button', { name: 'Save the hours' }).click()
  await saved
  const { global } = await scene.call('GET', '/v2/subscribers/grace/preferences')
  assert.match(JSON.stringify(global.schedule.weeklySchedule.monday), /10:30/)
  assert.equal(global.schedule.weeklySchedule.sunday.isEnabled, false)
  await scene.call('PATCH', '/v2/subscribers/grace/preferences', { schedule: null })
  await leave(page)
})

test('a workflow beyond the first hundred is found wherever one is chosen', { skip }, async () => {
  const { page } = shared
  const steps = [{ name: 'Bell', template: { type: 'in_app', content: 'Hello' } }]
  const oldest = await scene.call('POST', '/v1/workflows', { name: 'Zebra crossing', active: true, steps })
  const made: string[] = [oldest._id]
  for (let number = 0; number < 101; number += 1)
    made.push((await scene.call('POST', '/v1/workflows', { name: `Filler ${number}`, active: true, steps }))._id)
  const choose = async () => {
    await page.getByPlaceholder('Search by name').fill('Zebra')
    await page.getByRole('option', { name: 'Zebra crossing' }).click()
  }
  await page.goto('development/activity')
  await page.getByRole('button', { name: 'Workflow: All workflows' }).click()
  await choose()
  await page.waitForURL(/workflow=/)
  await page.getByRole('button', { name: 'Remove the filter Workflow' }).getByText('Zebra crossing').waitFor()
  await page.goto('development/subscribers/ada?tab=why')
  await page.getByRole('button', { name: /^Workflow: / }).click()
  await choose()
  await page.waitForURL(/workflow=zebra-crossing/)
  await page.goto('development/webhooks')
  await page.getByRole('button', { name: 'New endpoint' }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Workflows: All workflows' }).click()
  await choose()
  await page.getByRole('button', { name: 'Without Zebra crossing' }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('Zebra')
  await page.getByRole('option', { name: /Zebra crossing/ }).waitFor()
  await page.keyboard.press('Escape')
  // The list itself goes on after a hundred.
  await page.goto('development/workflows')
  await page.getByRole('button', { name: 'Show more' }).waitFor()
  // Whoever gets to the end of the rows is shown more of them.
  await page.getByRole('row').last().scrollIntoViewIfNeeded()
  await gone(page.getByRole('button', { name: 'Show more' }))
  for (const id of made) await scene.call('DELETE', `/v1/workflows/${id}`)
})

test('the texts of a locale are taken out as a file, and put in again after what changes was shown', {
  skip,
}, async () => {
  const { page } = shared
  await page.goto('development/translations')
  const menu = async (item: string) => {
    await page.getByRole('button', { name: 'Texts in German' }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  const downloaded = page.waitForEvent('download')
  await menu('Export')
  const file = await downloaded
  assert.equal(file.suggestedFilename(), 'de.json')
  const before = (await scene.call('GET', '/v1/translations/de')).texts
  const choose = async (text: string) => {
    const chooser = page.waitForEvent('filechooser')
    await menu('Import')
    await (await chooser).setFiles({ name: 'de.json', mimeType: 'application/json', buffer: Buffer.from(text) })
  }
  await choose('no JSON')
  await shown(page, /de\.json holds no texts/)
  await choose(JSON.stringify({ order: { shipped: 'Unterwegs' }, bye: 'Tschüss' }))
  const dialog = page.getByRole('dialog')
  await dialog.getByText('bye').waitFor()
  assert.deepEqual((await scene.call('GET', '/v1/translations/de')).texts, before)
  await dialog.getByRole('button', { name: 'Import' }).click()
  await page.getByRole('cell', { name: 'Tschüss' }).waitFor()
  await scene.call('PUT', '/v1/translations/de', { texts: before })
})

test('an e-mail is shown as in a dark theme, in the editor and in the activity', { skip }, async () => {
  const { page } = shared
  await page.goto(`development/workflows/${shared.ids.workflowId}`)
  await page.getByRole('navigation', { name: 'Steps' }).getByRole('button', { name: /Mail/ }).first().click()
  const views = page.getByRole('radiogroup', { name: 'How to show the e-mail' })
  await views.getByRole('radio', { name: 'Dark' }).click()
  await shown(page, /has no dark styles of its own/)
  const message = page.frameLocator('iframe').frameLocator('iframe')
  const filter = await message
    .locator('html')
    .evaluate((root: Json) => root.ownerDocument.defaultView.getComputedStyle(root).filter)
  assert.match(filter, /invert/)
  await views.getByRole('radio', { name: 'Plain text' }).click()
  await page.getByRole('group', { name: 'plain text' }).waitFor()
  await page.goto('development/activity?subscriber=alan')
  await page.getByRole('row', { name: /Order shipped/ }).click()
  await page.getByRole('radio', { name: /^Messages|^The message/ }).click()
  await views.getByRole('radio', { name: 'Dark' }).click()
  await shown(page, /has no dark styles of its own/)
  await leave(page)
})

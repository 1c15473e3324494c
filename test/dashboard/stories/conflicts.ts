// Two people at the same record: what one types is kept when the other saves, and the conflict is shown before it is overwritten.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../support/app.ts'
import { developmentKey } from '../service.ts'
import { close, gone, heading, scene, shown, skip, written } from '../story.ts'

const conflict = /Someone else saved this .* while you were editing/

let laterMs = 0

/** A page asks again for what is no longer fresh when its window is shown again: here it is so, a while later. */
async function refetched(page: Json): Promise<void> {
  laterMs += 60_000
  await page.clock.setSystemTime(Date.now() + laterMs)
  await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
}

test('a profile keeps what is typed when it is saved elsewhere, and says so only where both changed the same', {
  skip,
}, async () => {
  const page = await scene.visitor({ key: developmentKey })
  await scene.call('POST', '/v2/subscribers', { subscriberId: 'shared-person', firstName: 'Sam', lastName: 'Shared' })
  await page.goto('development/subscribers/shared-person')
  await page.getByLabel('First name').fill('Samira')
  await scene.call('PATCH', '/v2/subscribers/shared-person', { lastName: 'Elsewhere' })
  await refetched(page)
  await heading(page, 'Sam Elsewhere')
  // Another field was saved elsewhere: it is shown, what was typed stays, and there is no conflict.
  assert.equal(await page.getByLabel('Last name').inputValue(), 'Elsewhere')
  assert.equal(await page.getByLabel('First name').inputValue(), 'Samira')
  assert.equal(await page.getByText(conflict).count(), 0)
  await scene.call('PATCH', '/v2/subscribers/shared-person', { firstName: 'Samuel' })
  await refetched(page)
  await shown(page, conflict)
  assert.equal(await page.getByLabel('First name').inputValue(), 'Samira')
  await page.getByRole('button', { name: 'Discard' }).click()
  assert.equal(await page.getByLabel('First name').inputValue(), 'Samuel')
  await gone(page.getByText(conflict))
  await close(page)
})

test('a layout keeps what is typed, and the conflict is overwritten only by saving', { skip }, async () => {
  const page = await scene.visitor({ key: developmentKey })
  const made = await scene.call('POST', '/v1/layouts', {
    name: 'Of two people',
    identifier: 'of-two',
    content: '<p>{{{body}}}</p>',
  })
  await page.goto(`development/layouts/${made._id}`)
  const content = page.getByLabel('Content')
  await written(content, '<p>')
  await content.fill('<b>{{{body}}}</b>')
  await scene.call('PATCH', `/v1/layouts/${made._id}`, { content: '<i>{{{body}}}</i>' })
  await refetched(page)
  await shown(page, conflict)
  assert.equal(await content.innerText(), '<b>{{{body}}}</b>')
  await page.getByRole('button', { name: 'Save' }).click()
  await shown(page, 'The layout is saved')
  await gone(page.getByText(conflict))
  assert.equal((await scene.call('GET', `/v1/layouts/${made._id}`)).content, '<b>{{{body}}}</b>')
  await scene.call('DELETE', `/v1/layouts/${made._id}`)
  await close(page, /Blocked script execution in .about:srcdoc/)
})

test('an integration keeps what is typed; its rate limit and conditions are saved', { skip }, async () => {
  const page = await scene.visitor({ key: developmentKey })
  const credentials = { host: 'mail.example.com', port: '587', from: 'a@example.com' }
  const made = await scene.call('POST', '/v1/integrations', {
    providerId: 'nodemailer',
    channel: 'email',
    name: 'Second mail server',
    active: true,
    credentials,
  })
  await page.goto(`development/integrations/${made._id}`)
  await heading(page, 'Health')
  await page.getByLabel('Name', { exact: true }).fill('Spare mail server')
  await scene.call('PUT', `/v1/integrations/${made._id}`, { name: 'Third mail server' })
  await refetched(page)
  await shown(page, conflict)
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Spare mail server')
  await page.getByLabel(/Messages per second/).fill('2.5')
  await page.getByRole('button', { name: 'Condition', exact: true }).click()
  assert.deepEqual(await page.getByLabel('What is compared').locator('option').allInnerTexts(), [
    'Payload',
    'Subscriber',
    'Tenant',
  ])
  await page.getByLabel('Member').fill('region')
  await page.getByLabel('Value', { exact: true }).fill('eu')
  const check = page.getByRole('switch', { name: /Check the account/ })
  if ((await check.count()) > 0 && (await check.getAttribute('aria-checked')) === 'true') await check.click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await shown(page, 'The integration is saved')
  const saved = await scene.call('GET', `/v1/integrations/${made._id}`)
  assert.equal(saved.name, 'Spare mail server')
  assert.equal(saved.configurations.maxPerSecond, 2.5)
  assert.equal(saved.conditions[0].children[0].field, 'region')
  assert.equal(saved.credentials.host, credentials.host)
  await page.goto('development/integrations')
  await page.getByRole('link', { name: /Spare mail server.*conditions/ }).waitFor()
  await scene.call('DELETE', `/v1/integrations/${made._id}`)
  await close(page)
})

test('a workflow is not saved over what was saved a second before, until the conflict was shown', {
  skip,
}, async () => {
  const page = await scene.visitor({ key: developmentKey })
  const steps = [{ name: 'Bell', template: { type: 'in_app', content: 'one' } }]
  const { _id } = await scene.call('POST', '/v1/workflows', { name: 'Of both', active: true, steps })
  await page.goto(`development/workflows/${_id}`)
  await page
    .getByRole('navigation', { name: 'Steps' })
    .getByRole('button', { name: /^Trigger/ })
    .click()
  await page.getByLabel('Name', { exact: true }).fill('Of mine')
  // The page has not looked again since: only the service knows.
  await scene.call('PATCH', `/v1/workflows/${_id}`, { name: 'Of theirs' })
  assert.equal(await page.getByText(conflict).count(), 0)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await shown(page, conflict)
  assert.equal((await scene.call('GET', `/v1/workflows/${_id}`)).name, 'Of theirs')
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Of mine')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await shown(page, /Saved. New events use this version/)
  await gone(page.getByText(conflict))
  assert.equal((await scene.call('GET', `/v1/workflows/${_id}`)).name, 'Of mine')
  await scene.call('DELETE', `/v1/workflows/${_id}`)
  await close(page, 409)
})

test('a workflow is not switched over what was saved a second before', { skip }, async () => {
  const page = await scene.visitor({ key: developmentKey })
  const steps = [{ name: 'Bell', template: { type: 'in_app', content: 'one' } }]
  const { _id } = await scene.call('POST', '/v1/workflows', { name: 'Switched', active: true, steps })
  const stored = () => scene.call('GET', `/v1/workflows/${_id}`)
  await page.goto(`development/workflows/${_id}`)
  await heading(page, 'Switched')
  await scene.call('PATCH', `/v1/workflows/${_id}`, { name: 'Switched, as they call it' })
  await page.getByRole('button', { name: 'Switch off' }).click()
  await shown(page, /saved in the meantime/)
  assert.equal((await stored()).active, true)
  // Nothing was changed here: their change is shown, and nothing would overwrite it.
  await heading(page, 'Switched, as they call it')
  assert.equal(await page.getByText(/Not saved|Someone else saved/).count(), 0)
  await page
    .getByRole('navigation', { name: 'Steps' })
    .getByRole('button', { name: /^Trigger/ })
    .click()
  await page.getByLabel('Name', { exact: true }).fill('Switched, as I call it')
  await scene.call('PATCH', `/v1/workflows/${_id}`, { description: 'theirs' })
  await page.getByRole('button', { name: 'Switch off' }).click()
  await shown(page, conflict)
  assert.equal((await stored()).active, true)
  await page.getByRole('button', { name: 'Switch off' }).click()
  await page.getByRole('button', { name: 'Switch on' }).waitFor()
  // They are still warned of: switching is not saving.
  await shown(page, conflict)
  const { active, name, description } = await stored()
  assert.deepEqual([active, name, description], [false, 'Switched, as they call it', 'theirs'])
  await scene.call('DELETE', `/v1/workflows/${_id}`)
  await close(page, 409)
})

test('a version is not restored over one that was saved in the meantime', { skip }, async () => {
  const page = await scene.visitor({ key: developmentKey })
  const step = (content: string) => ({ name: 'Bell', template: { type: 'in_app', content } })
  const { _id } = await scene.call('POST', '/v1/workflows', { name: 'Of two', active: true, steps: [step('one')] })
  await scene.call('PATCH', `/v1/workflows/${_id}`, { steps: [step('two')] })
  await page.goto(`development/workflows/${_id}/versions?version=1`)
  await page.getByRole('button', { name: 'Restore' }).click()
  await scene.call('PATCH', `/v1/workflows/${_id}`, { steps: [step('three')] })
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Restore' }).click()
  await dialog.getByText(/Someone else saved this workflow/).waitFor()
  assert.equal((await scene.call('GET', `/v1/workflows/${_id}`)).steps[0].template.content, 'three')
  await dialog.getByRole('button', { name: 'Keep the current one' }).click()
  await page.getByRole('button', { name: 'Version 3' }).waitFor()
  await page.getByRole('button', { name: 'Restore' }).click()
  await dialog.getByRole('button', { name: 'Restore' }).click()
  await shown(page, 'Version 1 is restored')
  assert.equal((await scene.call('GET', `/v1/workflows/${_id}`)).steps[0].template.content, 'one')
  await close(page, 409)
})

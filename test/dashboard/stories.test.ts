// The dashboard as people use it, in a real browser, against the built pages and a real service.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Json } from '../support/app.ts'
import { projectRoot } from '../support/project-root.ts'
import { fill } from './sample-data.ts'
import { DashboardScene, developmentKey, noBrowser, productionKey } from './service.ts'

const skip = noBrowser
const scene = new DashboardScene()
let ids: { workflowId: string; notificationId: string }
/** Signed in, for the stories that need nothing of their own. */
let page: Json

before(async () => {
  if (skip) return
  await scene.open()
})
after(async () => {
  if (!skip) await scene.close()
})
afterEach(() => {
  const complaints = scene.complaints.splice(0)
  assert.deepEqual(complaints, [])
})

const heading = (at: Json, name: string | RegExp): Promise<void> => at.getByRole('heading', { name }).first().waitFor()
const shown = (at: Json, text: string | RegExp): Promise<void> => at.getByText(text).first().waitFor()

test('the link of the start signs in once, and leads to a first notification in one click', { skip }, async () => {
  const visitor = await scene.visitor()
  const link = scene.signInLink()
  await visitor.goto(link)
  await heading(visitor, 'Send your first notification')
  assert.doesNotMatch(visitor.url(), /#/)
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
  const stranger = await scene.visitor()
  await stranger.goto(link)
  await shown(stranger, /was used before/)
  scene.complaints.splice(0)
  await stranger.context().close()
  await visitor.context().close()
})

test('a key that may do everything signs in, and the bare address leads on', { skip }, async () => {
  ids = await fill(scene)
  page = await scene.visitor({ key: developmentKey })
  await page.goto('')
  await heading(page, 'Overview')
  assert.match(page.url(), /\/development$/)
})

test('a wrong key is refused in words', { skip }, async () => {
  const visitor = await scene.visitor()
  await visitor.goto('sign-in')
  await visitor.getByLabel('API key').fill('not-a-key-of-anybody')
  await visitor.getByRole('button', { name: 'Sign in' }).click()
  await visitor.getByRole('alert').getByText('API Key not found').waitFor()
  scene.complaints.splice(0)
  await visitor.context().close()
})

test('who is not signed in comes back to the page they asked for', { skip }, async () => {
  const visitor = await scene.visitor()
  await visitor.goto(`development/activity/${ids.notificationId}`)
  await visitor.getByLabel('API key').fill(developmentKey)
  await visitor.getByRole('button', { name: 'Sign in' }).click()
  await heading(visitor, /Weekly report/)
  await visitor.context().close()
})

test('the overview counts what was sent, and says what needs attention', { skip }, async () => {
  await page.goto('development')
  await heading(page, 'Needs attention')
  await page.getByRole('link', { name: /Events \d+ triggered/ }).waitFor()
  await page.getByRole('button', { name: 'As a table' }).click()
  await page.getByRole('region', { name: 'Messages over time, as a table' }).waitFor()
})

test('a notification that was skipped says why, with the values compared', { skip }, async () => {
  await page.goto('development/activity')
  await page.getByRole('row', { name: /Weekly report.*Grace Hopper/ }).click()
  await heading(page, /Weekly report/)
  await page
    .getByText(/Payload plan was “tin”/)
    .first()
    .waitFor()
  await page.getByText('Evidence').first().click()
  assert.match(page.url(), /\/activity\/[0-9a-f-]{36}/)
})

test('filters stand in the address, and Back takes them away', { skip }, async () => {
  await page.goto('development/activity')
  await page.getByLabel('Person: e-mail or subscriber id').fill('grace')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Remove the filter Person' }).waitFor()
  assert.match(page.url(), /subscriber=grace/)
  await page.getByRole('row', { name: /Payment failed/ }).waitFor()
  assert.equal(await page.getByRole('row', { name: /Ada/ }).count(), 0)
  await page.reload()
  await page.getByRole('row', { name: /Payment failed/ }).waitFor()
  await page.getByRole('button', { name: 'Remove the filter Person' }).click()
  await page.getByRole('row', { name: /Ada/ }).first().waitFor()
})

test('what failed is explained, and sent again', { skip }, async () => {
  await page.goto('development/activity?subscriber=grace')
  await page.getByRole('row', { name: /Payment failed/ }).click()
  await heading(page, /Payment failed/)
  const again = page.getByRole('button', { name: 'Send again' })
  if ((await again.count()) > 0) {
    await again.click()
    await page
      .getByRole('dialog')
      .getByText(/tried again/)
      .waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
})

test('news come in live, and move nothing until they are asked for', { skip }, async () => {
  await page.goto('development/activity')
  await shown(page, 'Live')
  await scene.call('POST', '/v1/events/trigger', {
    name: 'order-shipped',
    to: 'radia',
    payload: { order: { id: 7777 } },
  })
  await page.getByRole('button', { name: /1 new, show/ }).click()
  await page.getByRole('row', { name: /Radia/ }).first().waitFor()
})

test('a captured e-mail is shown as the person saw it, and as its source', { skip }, async () => {
  await page.goto('development/outbox?channel=email')
  await page.getByLabel('Captured messages').getByRole('link').first().click()
  await page
    .frameLocator('article iframe')
    .frameLocator('iframe')
    .getByText(/your order|your week/)
    .first()
    .waitFor()
  await page.getByRole('radio', { name: 'Source' }).click()
  await page
    .getByText(/^From:|Subject:/m)
    .first()
    .waitFor()
  await page.getByRole('radio', { name: 'Mobile' }).click()
  assert.equal((await page.locator('article iframe').boundingBox()).width, 375)
})

test('a workflow is edited, previewed and saved; what is not saved survives a reload', { skip }, async () => {
  await page.goto(`development/workflows/${ids.workflowId}`)
  const text = page.getByLabel('Text', { exact: true })
  await text.fill('Parcel {{ order.id }} left us, {{ subscriber.firstName }}!')
  await shown(page, /Parcel .*left us, Ada!/)
  await page.reload()
  await shown(page, 'Not saved')
  assert.match(await text.inputValue(), /^Parcel/)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await shown(page, /Saved\. The next event/)
  const saved = await scene.call('GET', `/v1/workflows/${ids.workflowId}`)
  assert.match(saved.steps[0].template.content, /^Parcel/)
  assert.equal(saved.steps.length, 2)
})

test('steps are added, moved and removed, with a delay, a digest and a condition', { skip }, async () => {
  await page.goto('development/workflows')
  await page.getByRole('button', { name: 'New workflow' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Built by clicking')
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await heading(page, 'Built by clicking')
  for (const type of ['Delay', 'Digest', 'E-mail']) {
    await page.getByRole('button', { name: 'Add a step', exact: true }).click()
    await page.getByRole('menuitem', { name: type }).click()
    await heading(page, type)
  }
  await page.getByRole('button', { name: 'Condition', exact: true }).click()
  await page.getByLabel('Member').fill('plan')
  await page.getByLabel('Value').fill('gold')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await shown(page, /Saved\. The next event/)
  const { data } = await scene.call('GET', '/v1/workflows?query=Built')
  const types = data[0].steps.map((step: Json) => step.template.type)
  assert.deepEqual(types, ['in_app', 'delay', 'digest', 'email'])
  assert.equal(data[0].steps[3].filters[0].children[0].field, 'plan')
})

test('a mistake in a template is said where it is made, in the words of the service', { skip }, async () => {
  await page.goto(`development/workflows/${ids.workflowId}`)
  await page.getByLabel('Text', { exact: true }).fill('{% if %}')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('alert').first().waitFor()
  await page.getByRole('button', { name: 'Discard' }).click()
  scene.complaints.splice(0)
})

test('a subscriber is created, found, changed, asked about and deleted by typing the name', { skip }, async () => {
  await page.goto('development/subscribers')
  await page.getByRole('button', { name: 'New subscriber' }).click()
  await page.getByRole('dialog').getByLabel('Subscriber id').fill('story-person')
  await page.getByRole('dialog').getByLabel('First name').fill('Stina')
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await heading(page, 'Stina')
  await page.getByLabel('Last name').fill('Story')
  await page.getByRole('button', { name: 'Save' }).click()
  await heading(page, 'Stina Story')
  await page.getByRole('radio', { name: 'Why' }).click()
  await shown(page, /story-person|has not|no /)
  await page.getByRole('radio', { name: 'Preferences' }).click()
  await page.getByRole('switch', { name: 'E-mail' }).first().click()
  await shown(page, 'The preference is saved')
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: /Delete/ }).click()
  await page.getByLabel('Type story-person to confirm').fill('story-person')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await heading(page, 'Subscribers')
})

test('a provider is found in the gallery and added with the form of its catalogue entry', { skip }, async () => {
  await page.goto('development/integrations?add=email')
  await page.getByLabel('Search all providers').fill('postmark')
  await page.getByRole('link', { name: /Postmark/ }).click()
  await heading(page, /Add Postmark/)
  await page.getByRole('switch', { name: /Check the account/ }).click()
  const [credential] = (await scene.call('GET', '/v1/providers')).find(
    (one: Json) => one.providerId === 'postmark',
  ).credentials
  await page.getByLabel(credential.label, { exact: true }).fill('not-a-real-token')
  const from = page.getByLabel(/From|Sender/).first()
  if ((await from.count()) > 0) await from.fill('hello@example.com')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await heading(page, 'Receipts')
})

test('a key is created, shown once, and revoked by typing its name', { skip }, async () => {
  await page.goto('development/settings')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Story key')
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await page.getByRole('dialog').getByText(/^ph_/).waitFor()
  await page.getByRole('button', { name: 'I have it' }).click()
  await page.getByRole('button', { name: 'Revoke Story key' }).click()
  await page.getByLabel('Type Story key to confirm').fill('Story key')
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('row', { name: /Story key.*Revoked/ }).waitFor()
})

test('the audit log verifies itself', { skip }, async () => {
  await page.goto('development/settings/audit')
  await page.getByRole('button', { name: 'Verify the log' }).click()
  await shown(page, /entries fit together/)
})

test('a topic, a layout, a translation and a suppression are made', { skip }, async () => {
  await page.goto('development/topics')
  await page.getByRole('button', { name: 'New topic' }).click()
  await page.getByRole('dialog').getByLabel('Key').fill('story-topic')
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await page.getByLabel('Add a subscriber').fill('ada')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
  await page.goto('development/layouts')
  await page.getByRole('button', { name: 'New layout' }).click()
  await heading(page, 'New layout')
  await page.goto('development/translations')
  await shown(page, 'Missing')
  await page.getByRole('button', { name: 'hello' }).click()
  await page.getByRole('dialog').getByLabel('de').fill('Hallo')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await shown(page, 'Hallo')
  await page.goto('development/settings/suppressions')
  await page.getByLabel('Address').fill('nobody@example.com')
  await page.getByRole('button', { name: 'Suppress' }).click()
  await page.getByRole('row', { name: /nobody@example.com/ }).waitFor()
})

test('by keyboard alone: the palette finds a person, a list is walked, a row is opened', { skip }, async () => {
  await page.goto('development')
  await heading(page, 'Overview')
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder(/Go to a page/).waitFor()
  await page.keyboard.type('Katherine')
  await page.getByRole('option', { name: /Katherine Johnson/ }).waitFor()
  await page.keyboard.press('Enter')
  await heading(page, 'Katherine Johnson')
  await page.goto('development/activity')
  await page.getByRole('row').nth(1).focus()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await shown(page, 'What happened')
})

test('Production is its own: another session, another colour, nothing of Development', { skip }, async () => {
  await page.goto('development')
  await page.getByRole('button', { name: /Development environment/ }).click()
  await page.getByRole('menuitem', { name: /Production/ }).click()
  await page.getByLabel('API key').fill(productionKey)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: /Production environment/ }).waitFor()
  assert.match(page.url(), /\/production/)
  await page.goto('production/activity')
  await shown(page, 'Nothing has happened yet')
  await page.goto('development/activity')
  await page.getByRole('row', { name: /Ada/ }).first().waitFor()
})

test('hostile content is shown as text, and an e-mail of it runs nothing', { skip }, async () => {
  const hostile = '<img src=x onerror="document.title=1"><script>parent.document.title=2</script>العربية 👩‍🚀'
  await scene.call('POST', '/v2/subscribers', {
    subscriberId: 'hostile',
    firstName: hostile.slice(0, 60),
    lastName: 'w'.repeat(120),
    email: 'hostile@example.com',
  })
  await scene.call('POST', '/v1/workflows', {
    name: `Hostile ${hostile.slice(0, 80)}`,
    workflowId: 'hostile',
    active: true,
    steps: [
      {
        name: hostile.slice(0, 60),
        template: {
          type: 'email',
          subject: hostile,
          contentType: 'customHtml',
          content: `<p id="shown">Here</p>${hostile}`,
        },
      },
    ],
  })
  await scene.call('POST', '/v1/events/trigger', { name: 'hostile', to: 'hostile', payload: { text: hostile } })
  await page.goto('development/activity?subscriber=hostile')
  await page.getByRole('row', { name: /Hostile/ }).click()
  await page.getByRole('radio', { name: /message/i }).click()
  await page.frameLocator('article iframe').frameLocator('iframe').getByText('Here').waitFor()
  await page.goto('development/subscribers/hostile')
  await heading(page, /onerror/)
  assert.match(await page.title(), /Posthorn$/)
  const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
  assert.equal(overflow, 0)
  // The frame's policy refuses the script and the image, and says so.
  const others = scene.complaints
    .splice(0)
    .filter((text) => !/Content Security Policy|sandboxed|Blocked script/i.test(text))
  assert.deepEqual(others, [])
})

test('a session that has ended asks to sign in, and the page comes back', { skip }, async () => {
  const visitor = await scene.visitor({ key: developmentKey })
  await visitor.context().clearCookies()
  await visitor.getByRole('link', { name: 'Subscribers' }).click()
  await heading(visitor, /^Sign in/)
  await visitor.getByLabel('API key').fill(developmentKey)
  await visitor.getByRole('button', { name: 'Sign in' }).click()
  await heading(visitor, 'Subscribers')
  scene.complaints.splice(0)
  await visitor.context().close()
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
  scene.complaints.splice(0)
  await visitor.context().close()
})

test('who may only read sees everything and is offered no change', { skip }, async () => {
  const { key } = await scene.call('POST', '/v1/environments/api-keys', { name: 'Reader', scopes: ['read'] })
  const visitor = await scene.visitor({ key })
  await visitor.goto('development/workflows')
  await visitor.getByRole('row', { name: /Order shipped/ }).first().waitFor()
  assert.equal(await visitor.getByRole('button', { name: 'New workflow' }).count(), 0)
  await visitor.goto('development/settings')
  await shown(visitor, 'You may not see this')
  scene.complaints.splice(0)
  await visitor.context().close()
})

test('an address that is no page says so', { skip }, async () => {
  await page.goto('development/nothing-here')
  await shown(page, 'There is no such page')
})

const pages = () => [
  '',
  '/start',
  '/activity',
  `/activity/${ids.notificationId}`,
  '/workflows',
  `/workflows/${ids.workflowId}`,
  '/subscribers',
  '/subscribers/ada',
  '/topics',
  '/integrations',
  '/integrations?add=sms',
  '/outbox',
  '/layouts',
  '/translations',
  '/settings',
  '/settings/audit',
  '/settings/suppressions',
  '/settings/health',
]

for (const dark of [false, true]) {
  test(`every page is accessible in the ${dark ? 'dark' : 'light'} theme, and fits 360 pixels`, { skip }, async () => {
    const visitor = await scene.visitor({ key: developmentKey, dark, width: dark ? 1280 : 360 })
    const found: string[] = []
    for (const path of pages()) {
      await visitor.goto(`development${path}`)
      await visitor.locator('h1').first().waitFor()
      await visitor.locator('[aria-label="Loading"]').first().waitFor({ state: 'detached' })
      for (const violation of await scene.violations(visitor)) found.push(`${path} ${violation}`)
      const overflow = await visitor.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      if (overflow > 0) found.push(`${path} is ${overflow} pixels too wide`)
    }
    assert.deepEqual(found, [])
    await visitor.context().close()
  })
}

test('the first page stays below 250 kB gzipped', { skip }, () => {
  const folder = join(projectRoot, 'dashboard', 'dist')
  const index = readFileSync(join(folder, 'index.html'), 'utf8')
  const names = [...index.matchAll(/assets\/[\w.-]+/g)].map(([name]) => name)
  const overview = readdirSync(join(folder, 'assets')).filter((name) => /^(?:overview|chart).*\.(?:js|css)$/.test(name))
  const all = new Set([...names, ...overview.map((name) => `assets/${name}`)])
  const bytes = [...all].reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0)
  assert.ok(bytes < 250_000, `${bytes} bytes`)
})

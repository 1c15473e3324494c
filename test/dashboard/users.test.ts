// Users as people meet them, in a real browser: invited, signed in by password and by an identity provider, with fewer rights, signed out.
// Runs in a process of its own: it starts a service and a browser. POSTHORN_SCREENSHOTS=folder makes pictures as well.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import type { Json } from '../support/app.ts'
import { IdentityProvider, oidcClient } from '../support/identity-provider.ts'
import { DashboardScene, noBrowser } from './service.ts'
import { gone, heading, shown } from './story.ts'

const skip = noBrowser
const scene = new DashboardScene()
const password = 'correct horse battery staple'
const newPassword = 'another good passphrase'
const folder = process.env['POSTHORN_SCREENSHOTS']
const wantsPictures = folder !== undefined && folder !== 'docs'
let provider: IdentityProvider
/** The owner's browser. */
let page: Json
/** Of someone whom the owner invites. */
let grace: Json
let graceLink = ''
/** Of someone who signs in by the provider, and never uses it. */
let alanLink = ''

before(async () => {
  if (skip) return
  const port = await freePort()
  const home = `http://localhost:${port}`
  provider = await IdentityProvider.start(`${home}/v1/dashboard/oidc/callback`)
  scene.friends.push(provider.issuer)
  await scene.open({
    PORT: String(port),
    POSTHORN_BASE_URL: home,
    POSTHORN_OIDC_ISSUER: provider.issuer,
    POSTHORN_OIDC_CLIENT_ID: oidcClient.clientId,
    POSTHORN_OIDC_CLIENT_SECRET: oidcClient.clientSecret,
    POSTHORN_OIDC_NAME: 'Example Corp',
  })
})
after(async () => {
  if (skip) return
  await scene.close()
  await provider.close()
})
// Nothing that a page complains of is passed over.
afterEach(() => {
  assert.deepEqual(scene.complaints.splice(0), [])
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

const account = (at: Json, name: string | RegExp) =>
  at.getByRole('button', { name: /Account and theme/ }).getByText(name)

async function setPassword(at: Json, link: string): Promise<void> {
  await at.goto(link)
  await heading(at, 'Set your password')
  await at.getByLabel('New password', { exact: true }).fill(password)
  await at.getByLabel('New password again').fill(password)
  await at.getByRole('button', { name: 'Set password and sign in' }).click()
}

async function signIn(at: Json, email: string, typed: string): Promise<void> {
  await at.getByLabel('E-mail address').fill(email)
  await at.getByLabel('Password').fill(typed)
  await at.getByRole('button', { name: 'Sign in', exact: true }).click()
}

async function choose(row: RegExp, item: string): Promise<void> {
  await page
    .getByRole('row', { name: row })
    .getByRole('button', { name: /^Change/ })
    .click()
  await page.getByRole('menuitem', { name: item }).click()
}

test('the link of `posthorn users create` sets a password, once, and signs in to every environment', {
  skip,
}, async () => {
  const { stdout } = await scene.command(
    'users',
    'create',
    'ada@example.com',
    '--role',
    'owner',
    '--name',
    'Ada Lovelace',
  )
  page = await scene.visitor()
  await setPassword(page, stdout.trim())
  await account(page, 'Ada Lovelace').waitFor()
  await account(page, 'Owner').waitFor()
  await page.getByRole('button', { name: /Development environment/ }).click()
  await page.getByRole('menuitem', { name: 'Production' }).click()
  await page.getByRole('button', { name: /Production environment/ }).waitFor()
  const other = await scene.visitor()
  await other.goto(stdout.trim())
  await shown(other, /was already used/)
  await other.waitForURL((url: URL) => url.hash === '')
  await other.context().close()
  scene.forget(401)
})

test('signed out, the page offers e-mail and password; the wrong one is refused in words, the right one leads back', {
  skip,
}, async () => {
  await page.getByRole('button', { name: /Account and theme/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await heading(page, /^Sign in/)
  await page.goto('development/topics')
  await heading(page, /^Sign in/)
  await signIn(page, 'ada@example.com', 'not the password')
  await page.getByRole('alert').getByText('The e-mail address or the password is wrong').waitFor()
  scene.forget(401)
  await signIn(page, 'ada@example.com', password)
  await heading(page, 'Topics')
})

test('an owner invites someone by a link, who then sees everything and is offered no change', { skip }, async () => {
  await page.goto('development/settings/users')
  await page.getByRole('button', { name: 'Invite a user' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('E-mail address').fill('grace@example.com')
  await dialog.getByLabel('Name (optional)').fill('Grace Hopper')
  await dialog.getByLabel('Role').selectOption('viewer')
  await dialog.getByRole('button', { name: 'Create the link' }).click()
  graceLink = await dialog.getByText(/\/sign-in\/password#/).innerText()
  await dialog.getByRole('button', { name: 'I have it' }).click()
  await page.getByRole('row', { name: /Grace Hopper.*Viewer.*Invited/ }).waitFor()
  await page.getByRole('row', { name: /Ada Lovelace.*You/ }).waitFor()
  grace = await scene.visitor()
  await setPassword(grace, graceLink)
  await account(grace, 'Viewer').waitFor()
  await grace.goto('development/workflows')
  await shown(grace, 'There is no workflow yet')
  await gone(grace.getByRole('button', { name: 'New workflow' }))
  await grace.goto('development/settings/suppressions')
  await heading(grace, 'Suppressions')
  await shown(grace, 'No address is suppressed')
  await gone(grace.getByRole('link', { name: 'Users' }))
  await gone(grace.getByRole('button', { name: 'Suppress' }))
  await grace.goto('development/settings/users')
  await shown(grace, /Only owners manage users/)
})

test('another role and the end of a user reach the browser with its next page', { skip }, async () => {
  await page.reload()
  await choose(/Grace Hopper/, 'Make editor')
  await shown(page, 'Grace Hopper is editor now')
  await grace.goto('development/workflows')
  await grace.getByRole('button', { name: 'New workflow' }).first().click()
  await grace.getByRole('dialog').getByLabel('Name').fill('By an editor')
  const simulated = () => grace.waitForResponse(/\/v1\/events\/simulate$/)
  const asEditor = simulated()
  await grace.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await heading(grace, 'By an editor')
  assert.equal((await asEditor).status(), 200)
  const byEditor = grace.url()
  await page.goto('development/settings/audit')
  await page.getByRole('row', { name: /Grace Hopper \(grace@example.com\).*created workflow/ }).waitFor()
  await page.goto('development/settings/users')
  await choose(/Grace Hopper/, 'Make viewer')
  await shown(page, 'Grace Hopper is viewer now')
  const asViewer = simulated()
  await grace.goto(byEditor)
  await shown(grace, 'This is what the saved version does.')
  assert.equal((await asViewer).status(), 200)
  await shown(grace, /an event does nothing/)
  await choose(/Grace Hopper/, 'Disable')
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('row', { name: /Grace Hopper.*Disabled/ }).waitFor()
  await grace.goto('development/workflows')
  await heading(grace, /^Sign in/)
  await grace.context().close()
})

test('one’s own password is changed with the old one', { skip }, async () => {
  await page.getByRole('button', { name: /Account and theme/ }).click()
  await page.getByRole('menuitem', { name: 'Change password' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Current password').fill(password)
  await dialog.getByLabel('New password', { exact: true }).fill(newPassword)
  await dialog.getByLabel('New password again').fill(newPassword)
  await dialog.getByRole('button', { name: 'Change password' }).click()
  await shown(page, /The password is changed/)
  await page.reload()
  await heading(page, 'Users')
})

test('the identity provider refuses who has no user, in words, and signs in whom an owner invited', {
  skip,
}, async () => {
  const alan = await scene.visitor()
  provider.account = { sub: 'alan', email: 'alan@example.com', email_verified: true, name: 'Alan Turing' }
  await alan.goto('sign-in')
  await alan.getByRole('link', { name: 'Sign in with Example Corp' }).click()
  await alan
    .getByRole('alert')
    .getByText(/You have no user here yet/)
    .waitFor()
  const made = await scene.command('users', 'create', 'alan@example.com', '--role', 'viewer', '--name', 'Alan Turing')
  alanLink = made.stdout.trim()
  await alan.goto('production/topics')
  await alan.getByRole('link', { name: 'Sign in with Example Corp' }).click()
  await heading(alan, 'Topics')
  await alan.waitForURL(/\/production\/topics$/)
  await account(alan, 'Alan Turing').waitFor()
  await alan.getByRole('button', { name: /Account and theme/ }).click()
  await alan.getByRole('menuitem', { name: 'Sign out' }).waitFor()
  await gone(alan.getByRole('menuitem', { name: 'Change password' }))
  await alan.context().close()
})

for (const dark of [false, true]) {
  test(`signing in and the page of users are accessible in the ${dark ? 'dark' : 'light'} theme, and fit 360 pixels`, {
    skip,
  }, async () => {
    const found: string[] = []
    // Each theme at one width, as for all pages; pictures want both.
    for (const width of wantsPictures ? [1280, 360] : [dark ? 1280 : 360]) {
      const at = await scene.visitor({ dark, width })
      const look = async (name: string): Promise<void> => {
        for (const violation of await scene.violations(at)) found.push(`${name} ${width}: ${violation}`)
        const over = await at.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
        if (over > 0) found.push(`${name} is ${over} pixels too wide`)
        await picture(at, `${name}-${width}-${dark ? 'dark' : 'light'}`)
      }
      await at.goto('sign-in?error=unknown')
      await at.getByLabel('E-mail address').waitFor()
      await look('sign-in')
      await at.goto(alanLink)
      await at.getByLabel('New password again').fill('x')
      await look('set-password')
      await at.goto('sign-in?to=/development/settings/users')
      await signIn(at, 'ada@example.com', newPassword)
      await at.getByRole('row', { name: /Alan Turing/ }).waitFor()
      await look('users')
      await at.getByRole('button', { name: 'Invite a user' }).click()
      await at.getByRole('dialog').getByLabel('Role').waitFor()
      await look('invite')
      await at.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
      await at
        .getByRole('row', { name: /Alan Turing/ })
        .getByRole('button', { name: /^Change/ })
        .click()
      await picture(at, `menu-${width}-${dark ? 'dark' : 'light'}`)
      await at.context().close()
    }
    assert.deepEqual(found, [])
  })
}

async function picture(at: Json, name: string): Promise<void> {
  if (folder === undefined || !wantsPictures) return
  mkdirSync(folder, { recursive: true })
  await at.waitForTimeout(200)
  await at.screenshot({ path: join(folder, `${name}.png`) })
}

// Versions of a workflow and its way to Production.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../support/app.ts'
import { productionKey } from '../service.ts'
import { heading, scene, shared, shown, skip, titled, written } from '../story.ts'

const hostile = '<script>document.title=3</script> العربية'
let workflowId = ''

test('versions are compared, and an old one is restored', { skip }, async () => {
  const { page } = shared
  const mail = (subject: string, content: string) => ({
    name: 'Mail',
    template: { type: 'email', subject, contentType: 'customHtml', content, layoutId: 'acme' },
  })
  const made = await scene.call('POST', '/v1/workflows', {
    name: 'Invoice sent',
    active: true,
    steps: [mail('Invoice', '<p>First words</p>')],
  })
  workflowId = made._id
  await scene.call('PATCH', `/v1/workflows/${workflowId}`, {
    steps: [mail(`Invoice ${hostile}`, '<p>Second words</p>')],
  })
  await page.goto(`development/workflows/${workflowId}`)
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Versions' }).click()
  await heading(page, 'Versions')
  const diff = page.getByRole('group', { name: 'Difference' })
  for (const text of ['First words', 'Second words', hostile]) await diff.getByText(text).first().waitFor()
  await titled(page, 'Versions')
  await page.getByRole('button', { name: 'Version 1' }).click()
  await shown(page, 'From version 1 to the current one')
  await page.waitForURL(/version=1/)
  await page.getByRole('button', { name: 'Restore' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click()
  await heading(page, 'Invoice sent')
  const now = await scene.call('GET', `/v1/workflows/${workflowId}`)
  assert.match(now.steps[0].template.content, /First words/)
})

test('every version can be reached, in the list and by its address', { skip }, async () => {
  const { page } = shared
  const stepOf = (number: number) => ({ name: 'Bell', template: { type: 'in_app', content: `Words ${number}` } })
  const { _id } = await scene.call('POST', '/v1/workflows', { name: 'Often saved', active: true, steps: [stepOf(1)] })
  for (let number = 2; number <= 53; number += 1)
    await scene.call('PATCH', `/v1/workflows/${_id}`, { steps: [stepOf(number)] })
  await page.goto(`development/workflows/${_id}/versions?version=3`)
  await heading(page, /^Version 3,/)
  await page.getByRole('group', { name: 'Difference' }).getByText('Words 2').first().waitFor()
  const list = page.getByRole('navigation', { name: 'Versions' })
  await list.getByRole('button', { name: 'Show more' }).click()
  await list.getByText('Version 1', { exact: true }).waitFor()
  assert.equal(await list.getByText(/^Version \d+$/).count(), 53)
  await page.goto(`development/workflows/${_id}/versions?version=54`)
  await shown(page, 'There is no version 54')
})

test('a workflow is shown as a file', { skip }, async () => {
  const { page } = shared
  await page.goto(`development/workflows/${workflowId}`)
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'View as file or API call' }).click()
  await page
    .getByRole('dialog')
    .getByText(/workflowId: invoice-sent/)
    .waitFor()
  await page.getByRole('dialog').getByRole('radio', { name: 'API call' }).click()
  await page
    .getByRole('dialog')
    .getByText(/curl -X PATCH/)
    .waitFor()
})

test('a workflow is promoted to Production with its layout, after what changes was shown', { skip }, async () => {
  const { page } = shared
  await page.goto(`development/workflows/${workflowId}`)
  const open = async () => {
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Promote to another environment' }).click()
  }
  const elsewhere = page.getByRole('list', { name: 'Other environments' })
  await elsewhere.getByText('Not in Production yet').waitFor()
  await page.getByLabel('Name of the step').fill('Not saved')
  await open()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/your changes are not in it yet/).waitFor()
  await dialog.getByRole('heading', { name: /Layout acme New there/ }).waitFor()
  await dialog.getByRole('group', { name: 'What changes in invoice-sent' }).getByText('First words').waitFor()
  await dialog.getByRole('button', { name: 'Promote to Production' }).click()
  await shown(page, 'Invoice sent is promoted to Production')
  const there = await scene.call('GET', '/v1/workflows/invoice-sent', undefined, productionKey)
  assert.equal(there.steps[0].template.subject, 'Invoice')
  assert.equal(there.steps[0].name, 'Mail')
  await page.getByRole('button', { name: 'Discard' }).click()
  await open()
  await dialog.getByText('Production is up to date').waitFor()
  await page.keyboard.press('Escape')
  await elsewhere.getByText('Production has this version, promoted').waitFor()
})

test('in the environment that it was promoted to, the workflow is there and says what it said', { skip }, async () => {
  const { page } = shared
  await page.goto('development/workflows')
  await page.getByRole('button', { name: /Development environment/ }).click()
  await page.getByRole('menuitem', { name: /Production/ }).click()
  await page.getByRole('button', { name: /Production environment/ }).waitFor()
  await page.getByRole('link', { name: 'Workflows', exact: true }).click()
  await page.waitForURL(/\/production\/workflows$/)
  await page.getByRole('row', { name: /Invoice sent/ }).click()
  await heading(page, 'Invoice sent')
  await page.waitForURL(
    (url: URL) => /\/production\/workflows\/./.test(url.pathname) && !url.pathname.includes(workflowId),
  )
  await page.getByRole('button', { name: /^Mail/ }).first().click()
  await written(page.getByLabel('Subject'), /^Invoice$/)
  // Back in Development it is the one that was promoted.
  await page.goto(`development/workflows/${workflowId}`)
  await page.getByRole('list', { name: 'Other environments' }).getByText('Production has this version').waitFor()
})

test('the editor says which version another environment has, and since when', { skip }, async () => {
  const { page } = shared
  const { steps } = await scene.call('GET', `/v1/workflows/${workflowId}`)
  await scene.call('PATCH', `/v1/workflows/${workflowId}`, { description: 'Later words', steps })
  await page.goto(`development/workflows/${workflowId}`)
  const elsewhere = page.getByRole('list', { name: 'Other environments' })
  await elsewhere.getByText('Production has version 3, 1 save behind, promoted').waitFor()
  await elsewhere.getByRole('time').waitFor()
  // Whether it is switched on there is no part of a version.
  const there = (body: object) => scene.call('PATCH', '/v1/workflows/invoice-sent', body, productionKey)
  await there({ active: false })
  await page.reload()
  await elsewhere.getByText('Production has version 3, 1 save behind').waitFor()
  await there({ description: 'Words of their own' })
  await page.reload()
  await elsewhere.getByText('Production has another version, saved').waitFor()
  await there({ description: 'Later words' })
  await page.reload()
  await elsewhere.getByText('Production has this version').waitFor()
  // Of many with similar names, the search answers only the newest.
  const others = { data: [], hasMore: true, page: 0, pageSize: 100 }
  await page.route(/\/v1\/workflows\?/, (call: Json) => call.fulfill({ json: others }))
  await page.reload()
  await elsewhere.getByText('Production has this version').waitFor()
  await page.unroute(/\/v1\/workflows\?/)
})

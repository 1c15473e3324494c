// Webhooks: an endpoint from its creation to its deletion, with a backend that first refuses and then accepts.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { disabled, gone, heading, shared, shown, skip, titled } from '../story.ts'

const hostile = '<img src=x onerror="document.title=1"> العربية 👩‍🚀'
let status = 500
const received: string[] = []
const backend = createServer((request, answer) => {
  received.push(String(request.headers['webhook-id']))
  answer.writeHead(status).end(hostile)
})
after(() => backend.close())

test('a webhook endpoint is created, and its secret shown once', { skip }, async () => {
  const { page } = shared
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  await page.goto('development/webhooks')
  await page.getByRole('button', { name: 'New endpoint' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('URL').fill(`http://127.0.0.1:${(backend.address() as AddressInfo).port}/hook`)
  await dialog.getByLabel('Name').fill('Story backend')
  await dialog.getByRole('radiogroup', { name: 'Events' }).getByRole('radio', { name: 'Only some' }).click()
  await dialog.getByLabel('message.failed').check()
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText(/^whsec_/).waitFor()
  await page.getByRole('button', { name: 'I have it' }).click()
  await heading(page, 'Story backend')
  await shown(page, 'Nothing was sent yet')
})

test('a test that was refused shows the answer as text, and is sent again once the backend works', {
  skip,
}, async () => {
  const { page } = shared
  await page.getByRole('button', { name: 'Send a test' }).click()
  const delivery = page.getByRole('article', { name: 'Delivery' })
  await delivery.getByText('HTTP 500').waitFor()
  await delivery.getByText(hostile).waitFor()
  await shown(page, /The last .*attempts? failed/)
  await titled(page, 'Story backend')
  status = 204
  await delivery.getByRole('button', { name: 'Send again' }).click()
  await page.getByRole('row', { name: /Delivered.*webhook\.test.*HTTP 204/ }).waitFor()
  await page.getByRole('button', { name: 'Close the delivery' }).click()
  await page.getByRole('button', { name: 'Send a period again' }).click()
  await page
    .getByRole('dialog')
    .getByRole('switch', { name: /Also those that were accepted/ })
    .click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
  await shown(page, /1 are sent again|There was nothing/)
  assert.ok(new Set(received).size === 1 && received.length >= 2, `${received.length} requests of one delivery`)
})

test('an endpoint is edited, rotated, disabled and enabled, and deleted by typing its name', { skip }, async () => {
  const { page } = shared
  const menu = async (item: string) => {
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: item, exact: true }).click()
  }
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill(`Story ${hostile}`)
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await heading(page, `Story ${hostile}`)
  await menu('Rotate the secret')
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  await page
    .getByRole('dialog')
    .getByText(/^whsec_/)
    .waitFor()
  await page.getByRole('button', { name: 'I have it' }).click()
  await shown(page, 'Old secret valid until')
  await menu('Disable')
  await shown(page, /nothing is sent to it; what happens/)
  await disabled(page, 'Send a test')
  await page.getByRole('button', { name: 'Enable it' }).click()
  await shown(page, 'Active')
  await menu('Delete the endpoint')
  await page.getByLabel(`Type Story ${hostile} to confirm`).fill(`Story ${hostile}`)
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await heading(page, 'Webhooks')
  // The other endpoint is waited for: a page that is still loading would show none of them.
  await shown(page, 'Order service')
  await gone(page.getByRole('row', { name: /Story/ }))
})

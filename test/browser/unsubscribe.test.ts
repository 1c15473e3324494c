// The preference page in a real browser: by keyboard alone, as a screen reader hears it, and under its own policy.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { Browser, chromium } from '../support/browser.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { linkFor } from '../support/unsubscribe-scene.ts'
import { email, inApp } from '../support/workflow-scene.ts'

const skip = chromium === undefined && 'there is no Chromium on this machine'

let app: TestApp
let scene: FlowScene
let base: string
let browser: Browser
before(async () => {
  if (chromium === undefined) return
  app = await createTestApp()
  scene = new FlowScene(app)
  base = await app.app.listen({ port: 0, host: '127.0.0.1' })
  browser = new Browser(chromium)
})
after(async () => {
  await browser?.close()
  await app?.close()
})

async function opened(): Promise<{ subscriberId: string; workflow: Json }> {
  const subscriberId = fresh('person')
  const subscriber = await scene.expect(201, 'POST', '/v2/subscribers', { subscriberId })
  const workflow = await scene.created([email(), inApp()], { name: 'Weekly news' })
  await browser.open(`${base}${await linkFor(app, subscriber._id, workflow._id)}`)
  return { subscriberId, workflow }
}

async function preferencesOf(subscriberId: string): Promise<Json> {
  const [row] = await scene.rows(sql`select preferences from subscribers where subscriber_id = ${subscriberId}`)
  return row.preferences
}

test('a screen reader hears headings, groups and the name of every box and button', { skip }, async () => {
  await opened()
  const spoken = await browser.spoken()
  for (const expected of [
    'RootWebArea: Notification preferences',
    'heading: Notification preferences',
    'button: Stop e-mail about “Weekly news”',
    'group: Weekly news',
    'group: All notifications',
    'checkbox: E-mail',
    'checkbox: In the app',
    'checkbox: SMS',
    'button: Save',
  ]) {
    assert.ok(spoken.includes(expected), `${expected} is not among ${JSON.stringify(spoken)}`)
  }
})

test('the style is applied under its own policy, and nothing is complained of', { skip }, async () => {
  await opened()
  const styled = await browser.value(`getComputedStyle(document.querySelector('main')).maxWidth`)
  assert.notEqual(styled, 'none')
  const height = await browser.value(`document.querySelector('button').getBoundingClientRect().height`)
  assert.ok(height >= 44, `a button is ${height} pixels high`)
  const overflow = await browser.value('document.documentElement.scrollWidth - document.documentElement.clientWidth')
  assert.equal(overflow, 0)
  assert.deepEqual(browser.complaints, [])
})

test('boxes are changed and saved with the keyboard alone', { skip }, async () => {
  const { subscriberId, workflow } = await opened()
  // Past the button at the top and the workflow's e-mail: its in-app box, then seven boxes on to the button that saves.
  await browser.press('Tab', 'Tab', 'Tab', 'Space')
  await browser.press('Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Tab')
  assert.equal(await browser.value('document.activeElement.textContent'), 'Save')
  await browser.submit('Enter')
  assert.equal(await browser.value('document.title'), 'Your choices are saved. – Notification preferences')
  assert.ok((await browser.spoken()).some((line) => line.endsWith(': Your choices are saved.')))
  const preferences = await preferencesOf(subscriberId)
  assert.deepEqual(preferences.workflows[workflow._id].channels, { in_app: false })
  assert.deepEqual(browser.complaints, [])
})

test('the first key and Enter unsubscribe', { skip }, async () => {
  const { subscriberId, workflow } = await opened()
  await browser.press('Tab')
  await browser.submit('Enter')
  assert.match(await browser.value('document.title'), /^You will not receive any more e-mails about “Weekly news”/)
  assert.equal((await preferencesOf(subscriberId)).workflows[workflow._id].channels.email, false)
})

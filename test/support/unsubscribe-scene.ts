// What tests of unsubscribe links start from: tokens as the service signs them, and a page as a reader of HTML sees it.
import assert from 'node:assert/strict'
import { writeUnsubscribeToken } from '../../src/domain/preferences/unsubscribe-token.ts'
import { findSigningKeys } from '../../src/store/operate/signing-versions.ts'
import type { TestApp, TestReply } from './app.ts'
import { environmentOf } from './topic-scene.ts'

export async function secretOf(
  app: TestApp,
  environment: 'Development' | 'Production' = 'Development',
): Promise<Buffer> {
  const found = await findSigningKeys(app.database.db, app.world.sealer, await environmentOf(app, environment))
  return found?.tokenKey('unsubscribe') ?? assert.fail('there is no key')
}

/** The link for a subscriber and a workflow, by their internal ids. */
export async function linkFor(app: TestApp, subscriberId: string, workflowId: string): Promise<string> {
  const { id: environmentId } = await environmentOf(app)
  const token = writeUnsubscribeToken({ environmentId, subscriberId, workflowId }, await secretOf(app))
  return `/v1/unsubscribe/${token}`
}

const formType = { 'content-type': 'application/x-www-form-urlencoded' }

/** As mail programs ask: no key, and the very words of RFC 8058. */
export const oneClick = (app: TestApp, link: string): Promise<TestReply> =>
  app.call('POST', link, { key: null, headers: formType, body: 'List-Unsubscribe=One-Click' })

export const post = (app: TestApp, link: string, fields: readonly (readonly [string, string])[]): Promise<TestReply> =>
  app.call('POST', link, {
    key: null,
    headers: formType,
    body: new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])).toString(),
  })

export const look = (app: TestApp, link: string): Promise<TestReply> => app.call('GET', link, { key: null })

/** Every input of a page, with its attributes. */
export function inputsOf(html: string): Record<string, string>[] {
  return [...html.matchAll(/<input ([^>]*)>/g)].map((match) =>
    Object.fromEntries(
      [...(match[1] ?? '').matchAll(/([\w-]+)(?:="([^"]*)")?/g)].map(([, name = '', value = '']) => [name, value]),
    ),
  )
}

/** What the form would send, with some boxes pressed: `workflow/email`. */
export function filled(html: string, pressed: readonly string[] = []): [string, string][] {
  return inputsOf(html).flatMap(({ type, name = '', value = '', checked }): [string, string][] => {
    const isOn = type === 'hidden' || (checked !== undefined) !== pressed.includes(`${name}/${value}`)
    return isOn ? [[name, value]] : []
  })
}

/** The boxes that are ticked: `workflow/email`. */
export const ticked = (html: string): string[] =>
  inputsOf(html).flatMap(({ name, value, checked }) => (checked === undefined ? [] : [`${name}/${value}`]))

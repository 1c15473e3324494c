// What the stories share: one service, one browser, and a page that is signed in to Development.
import assert from 'node:assert/strict'
import { after, afterEach, before } from 'node:test'
import type { Json } from '../support/app.ts'
import type { SampleIds } from './sample-data.ts'
import { fill } from './sample-data.ts'
import { DashboardScene, developmentKey, noBrowser, waitMaxMs } from './service.ts'

export const skip = noBrowser
export const scene = new DashboardScene()

interface Shared {
  /** Signed in, for the stories that need no visitor of their own. */
  page: Json
  /** Of what the sample data made. */
  ids: SampleIds
}

export const shared: Shared = { page: undefined, ids: { workflowId: '', notificationId: '', endpointId: '' } }

/** Around the stories of a file: a service with sample data and a page that is signed in; nothing that a page complains of is passed over. */
export function withSampleData(settings: Record<string, string> = {}): void {
  before(async () => {
    if (skip) return
    await scene.open(settings)
    shared.ids = await fill(scene)
    shared.page = await scene.visitor({ key: developmentKey })
  })
  after(async () => {
    if (!skip) await scene.close()
  })
  afterEach(() => {
    assert.deepEqual(scene.complaints.splice(0), [])
  })
}

export const heading = (at: Json, name: string | RegExp): Promise<void> =>
  at.getByRole('heading', { name }).first().waitFor()
/** Pages change a little after what they were asked for: each of these waits for it. */
export const shown = (at: Json, text: string | RegExp): Promise<void> => at.getByText(text).first().waitFor()
/** At the edge of the page, the whole of it: a dialog may say a part of the same. */
export const news = (at: Json, text: string): Promise<void> =>
  at.locator('.news').getByText(text, { exact: true }).first().waitFor()
export const gone = (what: Json): Promise<void> => what.first().waitFor({ state: 'detached' })
export const titled = (at: Json, start: string): Promise<void> =>
  at.locator(`xpath=//title[starts-with(., '${start}')]`).waitFor({ state: 'attached' })
export const disabled = (at: Json, name: string): Promise<void> =>
  at.getByRole('button', { name, disabled: true }).waitFor()
/** The editor of templates is loaded after its page, and replaces a plain field. */
export const written = (field: Json, text: string | RegExp): Promise<void> =>
  field.and(field.page().locator('[contenteditable]')).filter({ hasText: text }).waitFor()

/**
 * What a story expects its pages to complain of: the status of calls that are refused, or words. A browser complains of each such
 * call by itself; whatever else it complains of fails the story.
 */
export type Expected = number | RegExp

/** None is under way once the page is gone. */
export async function leave(at: Json, ...expected: readonly Expected[]): Promise<void> {
  await at.goto('about:blank')
  scene.forget(...expected)
}
/** What the page complained of is looked at when the story is over. */
export async function close(visitor: Json, ...expected: readonly Expected[]): Promise<void> {
  await visitor.context().close()
  scene.forget(...expected)
}

const looksMs = 20

/** Until a page says so. Not by `waitForFunction`: where it has to look again, the page's policy refuses it. */
export async function until(page: Json, isSo: string): Promise<void> {
  for (const endsAt = Date.now() + waitMaxMs; !(await page.evaluate(isSo)); await page.waitForTimeout(looksMs)) {
    if (Date.now() > endsAt) throw new Error(`It never came to this: ${isSo}`)
  }
}

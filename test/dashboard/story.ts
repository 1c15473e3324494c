// What the stories share: one service, one browser, and a page that is signed in to Development.
import type { Json } from '../support/app.ts'
import type { SampleIds } from './sample-data.ts'
import { DashboardScene, noBrowser } from './service.ts'

export const skip = noBrowser
export const scene = new DashboardScene()

interface Shared {
  /** Signed in, for the stories that need no visitor of their own. */
  page: Json
  /** Of what the sample data made. */
  ids: SampleIds
}

export const shared: Shared = { page: undefined, ids: { workflowId: '', notificationId: '', endpointId: '' } }

export const heading = (at: Json, name: string | RegExp): Promise<void> =>
  at.getByRole('heading', { name }).first().waitFor()
export const shown = (at: Json, text: string | RegExp): Promise<void> => at.getByText(text).first().waitFor()

// Rows that are chosen, and the bar that says what can be done with them.
import type { Json } from '../../support/app.ts'
import { scene } from '../story.ts'

export const tick = (page: Json, name: string | RegExp): Json => page.getByRole('checkbox', { name })
export const bar = (page: Json): Json => page.getByRole('region', { name: 'What to do with the selection' })
export const selected = (page: Json, count: number): Promise<void> =>
  bar(page).getByText(`${count} selected`, { exact: true }).waitFor()
export const focused = (what: Json): Promise<void> => what.and(what.page().locator(':focus')).waitFor()

export async function people(start: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, n) => `${start}-${n}`)
  await scene.call('POST', '/v1/subscribers/bulk', {
    subscribers: ids.map((subscriberId) => ({
      subscriberId,
      firstName: subscriberId,
      lastName: 'Many',
      phone: '+4915112345678',
    })),
  })
  return ids
}

// What was read when events were accepted is read again unless it is fresh, and all jobs of the batch have it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeWorld } from '../../../test/support/fake-world.ts'
import { stepInput } from '../../../test/support/render-scene.ts'
import type { Db, Sql, Statement } from '../../db/sql.ts'
import type { TriggeredEvent } from '../../domain/delivery/event.ts'
import type { Environment } from '../../domain/environment.ts'
import type { PreLeasedJob } from '../../record/notify.ts'
import type { ConfigurationStamps } from '../../store/operate/configuration-stamps.ts'
import type { RecipientRow } from '../../store/people/subscribers.ts'
import type { FactSources } from './load-facts.ts'
import { foreseenPeople, loadFacts } from './load-facts.ts'

const environment = { id: 'environment-1' } as Environment
const stampsOf = (integrations: string): ConfigurationStamps => ({
  integrations,
  layouts: '',
  translations: '',
  variables: '',
  captures: false,
  hasSuppressions: false,
  hasWebhooks: false,
})

function scene() {
  const world = createFakeWorld()
  const asked: string[] = []
  const usedStamps: string[] = []
  const rows = async <Row extends object>({ name }: Statement): Promise<Row[]> => {
    asked.push(name ?? '?')
    if (name === 'configuration-stamps') return [stampsOf('read')] as never
    return name === 'subscribers-find-recipients' ? ([{ id: 'read' }] as never) : []
  }
  const sql: Sql = { rows, row: async (statement) => (await rows(statement))[0] as never, run: async () => 0 }
  const db = { ...sql, together: (work: (on: Sql) => Promise<unknown>) => work(sql) } as unknown as Db
  const { version } = stepInput({ type: 'in_app', content: 'Hello' })
  const sources = {
    db,
    world,
    versions: { of: async () => new Map([[version.id, version]]) },
    integrations: {
      active: async (_db: Sql, _environment: Environment, { integrations }: ConfigurationStamps) => {
        usedStamps.push(integrations)
        return []
      },
    },
    wordings: { for: async () => ({ layouts: undefined, translations: undefined }) },
  } as unknown as FactSources
  const event = { id: 'event', actorId: null, tenantId: null, contextKeys: null } as unknown as TriggeredEvent
  const job = (id: string, foreseen?: { ageMs: number; stamp: string }): PreLeasedJob => {
    const readAt = new Date(world.now().getTime() - (foreseen?.ageMs ?? 0))
    const recipient = { id } as RecipientRow
    return {
      ...{ id, subscriberId: id, versionId: version.id, step: 0, status: 'queued', digestId: null, state: null, event },
      foreseen: foreseen && { readAt, stamps: stampsOf(foreseen.stamp), recipient },
    } as unknown as PreLeasedJob
  }
  const load = async (...jobs: PreLeasedJob[]) => {
    asked.length = 0
    const facts = await loadFacts(sources, environment, jobs)
    return { asked: [...asked], people: [...facts.subscribers.keys()], stamp: usedStamps.at(-1) }
  }
  return { job, load }
}

test('jobs that were accepted just before are decided by what was read then, and the latest stamps', async () => {
  const { job, load } = scene()
  const loaded = await load(job('ann', { ageMs: 1, stamp: 'late' }), job('ben', { ageMs: 100, stamp: 'early' }))
  assert.deepEqual(loaded, { asked: [], people: ['ben', 'ann'], stamp: 'late' })
})

for (const [what, ageMs] of [
  ['is older', 101],
  ['is missing', undefined],
] as const) {
  test(`all is read again where what was read for one of them ${what}`, async () => {
    const { job, load } = scene()
    const other = job('ben', ageMs === undefined ? undefined : { ageMs, stamp: 'early' })
    const loaded = await load(job('ann', { ageMs: 1, stamp: 'late' }), other)
    assert.deepEqual(loaded.asked, ['subscribers-find-recipients', 'configuration-stamps'])
    assert.deepEqual([loaded.people, loaded.stamp], [['read'], 'read'])
  })
}

test('of someone who is a recipient here and an actor there, what was read last counts', () => {
  const stamps = stampsOf('kept')
  const row = (id: string, email: string) => ({ id, email }) as RecipientRow
  const early = { readAt: new Date(1), stamps, recipient: row('q', 'q'), actor: row('p', 'old') }
  const late = { readAt: new Date(2), stamps, recipient: row('p', 'new') }
  const lastOf = (people: readonly RecipientRow[]) => people.filter(({ id }) => id === 'p').at(-1)?.email
  assert.equal(lastOf(foreseenPeople([early, late])), 'new')
  assert.equal(lastOf(foreseenPeople([{ ...late, readAt: new Date(0) }, early])), 'old')
})

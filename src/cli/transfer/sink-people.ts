// Writes people to an environment, with what they belong to and what they chose; what is the same already is not written.
import { isDeepStrictEqual } from 'node:util'
import { ApiError } from '../api-client.ts'
import { sendPeople } from './people.ts'
import type { Row } from './rows.ts'
import type { Target, Thing, Written } from './target.ts'
import { allOf, has, orLeft, sumOf, unchanged } from './target.ts'

const encoded = (text: unknown): string => encodeURIComponent(String(text))

export async function writePeople(target: Target, rows: readonly Row[]): Promise<Written> {
  const { created, updated, errors } = await sendPeople(target.caller, target.client, rows)
  const left = errors.map(({ subscriberId, line, message }) => ({
    kind: 'subscriber',
    id: subscriberId ?? `row ${line}`,
    reason: message,
  }))
  return { changed: created + updated, left, refused: errors.length }
}

export function writeTopic(target: Target, key: string, name: string | undefined): Promise<Written> {
  return orLeft({ kind: 'topic', id: key }, async () => {
    const before = await target.find<Thing>(`/v2/topics/${encoded(key)}`)
    if (before !== undefined && (!name || before['name'] === name)) return false
    await target.send('POST', '/v2/topics', { key, ...(name ? { name } : {}) })
    return true
  })
}

/** What a subscriber chose: for all workflows, and by the identifiers of some. */
export interface Choices {
  readonly global?: Thing
  readonly workflows?: Readonly<Record<string, Thing>>
}

export async function writePreferences(target: Target, subscriberId: string, choices: Choices): Promise<Written> {
  const path = `/v2/subscribers/${encoded(subscriberId)}/preferences`
  const names = await workflowNames(target)
  const stored = async (): Promise<Choices> => (await storedChoices(target, names, subscriberId)) ?? {}
  const before = await stored().catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  })
  if (before === undefined) {
    return { changed: 0, left: [{ kind: 'preference', id: subscriberId, reason: 'The subscriber is not here.' }] }
  }
  const write = (id: string, change: Thing, of: (all: Choices) => Thing | undefined): Promise<Written> =>
    orLeft({ kind: 'preference', id }, async () => {
      const own = of(before)
      const { workflowId: _, ...members } = change
      if (own !== undefined && has(own, members)) return false
      await target.send('PATCH', path, change)
      // The same hours can be written in several ways.
      return own === undefined || !isDeepStrictEqual(of(await stored()), own)
    })
  const done: Written[] = []
  const { global = {}, workflows = {} } = choices
  if (Object.keys(global).length > 0) done.push(await write(subscriberId, global, (all) => all.global))
  for (const [workflowId, change] of Object.entries(workflows)) {
    const id = `${subscriberId} for ${workflowId}`
    done.push(await write(id, { ...change, workflowId }, (all) => all.workflows?.[workflowId]))
  }
  const { changed, left } = sumOf(done)
  return { changed: changed > 0 ? 1 : 0, left }
}

/** Identifiers by internal id. */
export const workflowNames = (target: Pick<Target, 'once' | 'read'>): Promise<ReadonlyMap<string, string>> =>
  target.once('workflow names', async () => {
    const names = new Map<string, string>()
    for (let offset = 0; ; ) {
      const query = { limit: 100, offset, orderBy: 'createdAt', orderDirection: 'ASC' }
      const { workflows } = await target.read<{ workflows: Thing[] }>('/v2/workflows', query)
      for (const one of workflows) names.set(String(one['_id']), String(one['workflowId']))
      offset += workflows.length
      if (workflows.length < 100) return names
    }
  })

async function storedChoices(
  { read }: Pick<Target, 'read'>,
  names: ReadonlyMap<string, string>,
  subscriberId: string,
): Promise<Choices | undefined> {
  const { preferences } = await read<Thing>(`/v2/subscribers/${encoded(subscriberId)}`, { preferences: 'true' })
  return choicesOf(preferences as Thing | undefined, names)
}

/** From how a service stores them. Those for workflows that are no longer there say nothing. */
export function choicesOf(stored: Thing | undefined | null, names: ReadonlyMap<string, string>): Choices | undefined {
  if (stored === undefined || stored === null) return undefined
  const { workflows, ...global } = stored
  const byId = Object.entries((workflows ?? {}) as Readonly<Record<string, Thing>>)
  const named = byId
    .flatMap(([id, { updatedAt: _, ...choice }]): [string, Thing][] => {
      const name = names.get(id)
      return name === undefined || Object.keys(choice).length === 0 ? [] : [[name, choice]]
    })
    .sort(([one], [other]) => (one < other ? -1 : 1))
  if (Object.keys(global).length === 0 && named.length === 0) return undefined
  return {
    ...(Object.keys(global).length === 0 ? {} : { global }),
    ...(named.length === 0 ? {} : { workflows: Object.fromEntries(named) }),
  }
}

export function writeTenant(target: Target, { identifier, ...members }: Thing): Promise<Written> {
  return orLeft({ kind: 'tenant', id: String(identifier) }, async () => {
    const path = `/v1/tenants/${encoded(identifier)}`
    const before = await target.find<Thing>(path)
    if (before === undefined) await target.send('POST', '/v1/tenants', { identifier, ...members })
    else if (has(before, members)) return false
    else await target.send('PATCH', path, members)
    return true
  })
}

export function writeContext(target: Target, { type, id, data = {} }: Thing): Promise<Written> {
  return orLeft({ kind: 'context', id: `${type}:${id}` }, async () => {
    const path = `/v2/contexts/${encoded(type)}/${encoded(id)}`
    const before = await target.find<Thing>(path)
    if (before === undefined) await target.send('POST', '/v2/contexts', { type, id, data })
    else if (has(before, { data })) return false
    else await target.send('PATCH', path, { data })
    return true
  })
}

/** Up to as many as one call takes. */
export async function writeSuppressions(target: Target, given: readonly Thing[]): Promise<Written> {
  const placeOf = ({ channel, address }: Thing): string => `${channel} ${address}`
  const known = await target.once('suppressions', async () => {
    const all = await allOf(target.read, '/v1/suppressions')
    return new Map(all.map((one) => [placeOf(one), one]))
  })
  const erased = given.filter(({ address }) => isHidden(address))
  const reason =
    'The address of an erased person, of which only a hash is kept: it means nothing in another environment.'
  const left = erased.map((one) => ({ kind: 'suppression', id: placeOf(one), reason }))
  const fresh = given.filter((one) => !isHidden(one['address']) && !has(known.get(placeOf(one)) ?? {}, one))
  return sumOf([{ changed: 0, left, refused: left.length }, await sendSuppressions(target, fresh, placeOf)])
}

/** As the service keeps it: a mark that begins no address, and a hash. */
const isHidden = (address: unknown): boolean => /^#[0-9a-f]{64}$/.test(String(address))

/** All of a call are taken, or none: one that is refused is halved until the line is found. */
async function sendSuppressions(
  target: Target,
  fresh: readonly Thing[],
  placeOf: (one: Thing) => string,
): Promise<Written> {
  const [first] = fresh
  if (first === undefined) return unchanged
  const done = await orLeft({ kind: 'suppression', id: placeOf(first) }, async () => {
    await target.send('POST', '/v1/suppressions/bulk', { suppressions: fresh })
    return fresh.length
  })
  if (done.refused === undefined || fresh.length === 1) return done
  const middle = Math.ceil(fresh.length / 2)
  const halves = [fresh.slice(0, middle), fresh.slice(middle)]
  return sumOf([
    await sendSuppressions(target, halves[0] ?? [], placeOf),
    await sendSuppressions(target, halves[1] ?? [], placeOf),
  ])
}

// The people of a Novu service: subscribers, what they are subscribed to, and what they chose. A page that is done whole is
// where a stopped import goes on.
import { sendBatches } from './batches.ts'
import type { NovuImport, NovuState, StageResult, StageStep } from './novu-stage.ts'
import { choicesIn, subscriberOf, subscriptionOf } from './novu-things.ts'
import { batchesAtOnce, peoplePerBatch } from './people.ts'
import { createMeter, createSaver } from './progress.ts'
import { integrationsOf } from './sink-configuration.ts'
import { writePeople, writePreferences, writeTopic } from './sink-people.ts'
import { writeSubscriptions } from './sink-subscriptions.ts'
import type { Page, Thing } from './target.ts'

/** As many as one call takes. */
const subscriptionsPerCall = 100
/** One call each: only so many at once. */
const peopleForPreferences = 25
const preferencesAtOnce = 8

/** People that are written together, and the cursor after the last of them. */
interface Part {
  readonly people: readonly Thing[]
  readonly cursor: string | undefined
  readonly total: number | undefined
}

async function* partsOf(pages: AsyncGenerator<Page>, size: number): AsyncGenerator<Part> {
  let people: Thing[] = []
  let total: number | undefined
  for await (const { data, next, totalCount, totalCountCapped } of pages) {
    people.push(...data)
    total = totalCountCapped === true ? undefined : totalCount
    if (people.length < size) continue
    yield { people, cursor: next ?? undefined, total }
    people = []
  }
  if (people.length > 0) yield { people, cursor: undefined, total }
}

interface Done {
  readonly count: number
  readonly changed: number
}

interface PeopleWork {
  readonly name: 'subscribers' | 'preferences'
  readonly size: number
  readonly atOnce: number
  write(people: readonly Thing[]): Promise<Done>
}

export const novuSubscribers: StageStep = async (run, state) => {
  const integrations = await integrationsHere(run)
  return overPeople(run, state, {
    name: 'subscribers',
    size: peoplePerBatch,
    atOnce: batchesAtOnce,
    write: async (people) => {
      const carried = people.map((person) => subscriberOf(person, integrations))
      await run.report.left(carried.flatMap(({ left }) => left))
      const { changed, left } = await writePeople(
        run.target,
        carried.map(({ value }, index) => ({ line: index + 1, value })),
      )
      await run.report.left(left)
      return { count: people.length - left.length, changed }
    },
  })
}

/** The identifiers of those that are in both, by the ids of the source. */
async function integrationsHere({ source, target }: NovuImport): Promise<ReadonlyMap<string, string>> {
  const here = await integrationsOf(target)
  const all = await source.integrations()
  const both = all.filter(({ identifier, providerId }) => here.get(String(identifier)) === providerId)
  return new Map(both.map(({ _id, identifier }) => [String(_id), String(identifier)]))
}

/** Only what a subscriber chose is written. */
export const novuPreferences: StageStep = (run, state) =>
  overPeople(run, state, {
    name: 'preferences',
    size: peopleForPreferences,
    atOnce: preferencesAtOnce,
    write: async (people) => {
      let [count, changed] = [0, 0]
      for (const { subscriberId } of people) {
        const id = String(subscriberId)
        const found = await run.source.preferences(id)
        const choices = found === undefined ? {} : choicesIn(found)
        if (Object.keys(choices).length === 0) continue
        const done = await writePreferences(run.target, id, choices)
        await run.report.left(done.left)
        count += 1
        changed += done.changed
      }
      return { count, changed }
    },
  })

async function overPeople(
  { terminal, source, target, checkpoint }: NovuImport,
  state: NovuState,
  { name, size, atOnce, write }: PeopleWork,
): Promise<StageResult> {
  const saver = createSaver(checkpoint)
  const meter = createMeter(terminal, 'subscribers')
  const before =
    state.cursor === undefined
      ? { count: 0, changed: 0 }
      : { count: state.counts[name] ?? 0, changed: state.changed[name] ?? 0 }
  let [{ count, changed }, read] = [before, 0]
  const result = (): StageResult => ({
    counts: { ...state.counts, [name]: count },
    changed: { ...state.changed, [name]: changed },
  })
  await sendBatches({
    rows: partsOf(source.subscribers(state.cursor), size),
    size: 1,
    atOnce,
    signal: target.caller.signal,
    send: async ([part]) => write(part?.people ?? []),
    onDone: ([part], done) => {
      count += done.count
      changed += done.changed
      read += part?.people.length ?? 0
      meter.at(read, part?.total === undefined || state.cursor !== undefined ? undefined : read / part.total)
      if (part?.cursor !== undefined) saver.reached({ ...state, ...result(), cursor: part.cursor })
    },
  }).finally(saver.settled)
  terminal.note(meter.words())
  return result()
}

export const novuTopics: StageStep = async ({ terminal, source, target, report }) => {
  let [topics, subscriptions, changedTopics, changedSubscriptions] = [0, 0, 0, 0]
  const meter = createMeter(terminal, 'subscriptions')
  for await (const { data } of source.topics()) {
    for (const { key, name } of data) {
      const topicKey = String(key)
      const { changed, left } = await writeTopic(target, topicKey, typeof name === 'string' ? name : undefined)
      await report.left(left)
      if (left.length > 0) continue
      topics += 1
      changedTopics += changed
      for await (const page of source.subscriptions(topicKey)) {
        if (target.caller.signal.aborted) return { counts: {}, changed: {} }
        const carried = page.data.map((one) => subscriptionOf(topicKey, one))
        await report.left(carried.flatMap((one) => one.left))
        const given = carried.flatMap(({ value }) => value ?? [])
        for (let at = 0; at < given.length; at += subscriptionsPerCall) {
          const done = await writeSubscriptions(target, topicKey, given.slice(at, at + subscriptionsPerCall))
          await report.left(done.left)
          changedSubscriptions += done.changed
          subscriptions += Math.min(given.length - at, subscriptionsPerCall) - (done.refused ?? 0)
        }
        meter.at(subscriptions)
      }
    }
  }
  return {
    counts: { topics, subscriptions },
    changed: { topics: changedTopics, subscriptions: changedSubscriptions },
  }
}

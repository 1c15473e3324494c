// Carries everything over from Novu, stage by stage. A stage that was done is not repeated, and what is repeated changes nothing.
import { novuPreferences, novuSubscribers, novuTopics } from './novu-people.ts'
import type { NovuSource } from './novu-source.ts'
import type { NovuImport, NovuState, Stage, StageResult, StageStep } from './novu-stage.ts'
import { stages } from './novu-stage.ts'
import type { Names } from './novu-things.ts'
import { groupOf, integrationOf, layoutOf, workflowV1Of, workflowV2Of } from './novu-things.ts'
import { writeConfiguration, writeGroup, writeIntegration, writeOwnTexts, writeWorkflow } from './sink-configuration.ts'
import type { Thing, Written } from './target.ts'

/** The state at its end, or where it was stopped. */
export async function importNovu(run: NovuImport): Promise<NovuState> {
  const { signal } = run.target.caller
  let state: NovuState = run.checkpoint.state ?? { done: [], counts: {}, changed: {} }
  for (const stage of stages) {
    if (signal.aborted) break
    if (state.done.includes(stage) || run.leavesOut.has(stage)) continue
    run.terminal.note(`${stage} …`)
    const { counts, changed } = await steps[stage](run, state)
    // Those that have a cursor saved where they are themselves.
    if (signal.aborted) break
    const { cursor: _, ...rest } = state
    state = {
      ...rest,
      done: [...rest.done, stage],
      counts: { ...rest.counts, ...counts },
      changed: { ...rest.changed, ...changed },
    }
    await run.checkpoint.save(state)
  }
  return state
}

/** Counts what is written, and reports the rest. */
function tallyOf({ report }: Pick<NovuImport, 'report'>, name: string) {
  let [count, different] = [0, 0]
  return {
    /** Whether it is there now. */
    add: async ({ changed, left, refused = 0 }: Written, isCounted = refused === 0): Promise<boolean> => {
      await report.left(left)
      if (isCounted) count += 1
      different += changed
      return isCounted
    },
    result: (): StageResult => ({ counts: { [name]: count }, changed: { [name]: different } }),
  }
}

const integrations: StageStep = async (run) => {
  const tally = tallyOf(run, 'integrations')
  for (const one of await run.source.integrations()) {
    const { value, left } = integrationOf(one)
    await run.report.left(left)
    if (value !== undefined) await tally.add(await writeIntegration(run.target, value))
  }
  return tally.result()
}

const layouts: StageStep = async (run) => {
  const tally = tallyOf(run, 'layouts')
  for await (const one of run.source.layouts()) {
    const { value, left } = layoutOf(one)
    await run.report.left(left)
    if (value === undefined) continue
    const named = { kind: 'layout', id: String(value['identifier']) }
    await tally.add(await writeConfiguration(run.target, { layouts: [value] }, named))
  }
  return tally.result()
}

const workflows: StageStep = async (run) => {
  const { source, target, report } = run
  const tally = tallyOf(run, 'workflows')
  const seen = new Set<string>()
  for await (const one of source.workflowsV2()) {
    // The list of v2 names those of v1 as well, without what their steps say.
    if (one['origin'] === 'novu-cloud-v1') continue
    const { value, left } = workflowV2Of(one)
    seen.add(String(one['workflowId']))
    await report.left(left)
    if (value !== undefined) await tally.add(await writeWorkflow(target, value))
  }
  const feeds = await source.feeds()
  const names = await namesOf(source, feeds)
  const groups = new Map<string, string[]>()
  for await (const one of source.workflowsV1()) {
    const { value, left } = workflowV1Of(one, names)
    const id = String(value?.['workflowId'] ?? '')
    if (seen.has(id)) continue
    await report.left(left)
    if (value === undefined) continue
    const parts = { feeds: feedsIn(value, feeds), workflows: [value] }
    const isThere = await tally.add(await writeConfiguration(target, parts, { kind: 'workflow', id }))
    const group = groupOf(one)
    if (isThere && group !== '' && group !== 'General') groups.set(group, [...(groups.get(group) ?? []), id])
  }
  for (const [name, members] of groups) await tally.add(await writeGroup(target, { name, workflows: members }), false)
  return tally.result()
}

/** Those that its steps name. */
function feedsIn(workflow: Thing, feeds: readonly Thing[]): Thing[] {
  const text = JSON.stringify(workflow)
  return feeds.flatMap(({ identifier, name }) =>
    text.includes(`"feedId":${JSON.stringify(identifier)}`) ? [{ identifier, name }] : [],
  )
}

async function namesOf(source: NovuSource, feeds: readonly Thing[]): Promise<Names> {
  const byId = new Map<string, string>()
  for await (const layout of source.layouts()) {
    const identifier = String(layout['layoutId'] ?? layout['identifier'])
    byId.set(String(layout['_id']), identifier)
    byId.set(identifier, identifier)
  }
  return { layouts: byId, feeds: new Map(feeds.map((feed) => [String(feed['_id']), String(feed['identifier'])])) }
}

const translations: StageStep = async (run) => {
  const tally = tallyOf(run, 'locales')
  for (const locale of await run.source.locales()) {
    const texts = await run.source.ownTexts(locale)
    if (texts !== undefined) await tally.add(await writeOwnTexts(run.target, locale, texts), true)
  }
  return tally.result()
}

const steps: Readonly<Record<Stage, StageStep>> = {
  integrations,
  layouts,
  workflows,
  translations,
  subscribers: novuSubscribers,
  topics: novuTopics,
  preferences: novuPreferences,
}

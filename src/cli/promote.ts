// posthorn promote: takes workflows and what they refer to from one environment to another, perhaps of another service. Never credentials.
import type { ApiClient, ServiceValues } from './api-client.ts'
import { clientFor } from './api-client.ts'
import type { Command, Terminal } from './command.ts'
import { UsageError } from './command.ts'
import { readProfiles } from './profiles.ts'
import { readOptions, wrongCall } from './terminal/arguments.ts'
import type { PlannedChange } from './workflows/change-plan.ts'
import { applyPlan, plannedChange } from './workflows/change-plan.ts'
import { exported, ownEnvironment, planned } from './workflows/remote-configuration.ts'

/** Beyond that topics are data, not definitions. */
const topicsMax = 10_000
const topicsPerPage = 100

export const promoteCommand: Command = {
  name: 'promote',
  about:
    'Takes active workflows with the layouts, feeds and translations they use from one environment to another, and ' +
    'says what it does not take. Nothing is deleted, texts that only the target has stay, and credentials are never ' +
    'copied. It needs a key of each environment (scopes read and workflows:write): POSTHORN_API_KEY and ' +
    'POSTHORN_API_KEY_2, two logins, or two files. --from and --to may name profiles, also of different services.',
  examples: [
    'posthorn promote                                          # from Development to Production; shows the changes and asks',
    'posthorn promote --workflow order-shipped --yes',
    'posthorn promote --from staging --to live --topics        # two logins',
  ],
  usage: [
    'promote [--from Development] [--to Production] [--workflow ID]... [--drafts] [--topics] [--yes] ' +
      '[--json] [--url URL] [--from-key-file FILE] [--to-key-file FILE]',
  ],
  run: async (terminal, args) => {
    const { values, positionals } = readOptions(promoteCommand, args, {
      from: { type: 'string', default: 'Development' },
      to: { type: 'string', default: 'Production' },
      'from-key-file': { type: 'string' },
      'to-key-file': { type: 'string' },
      workflow: { type: 'string', multiple: true },
      drafts: { type: 'boolean', default: false },
      topics: { type: 'boolean', default: false },
      yes: { type: 'boolean', default: false },
    })
    if (positionals.length > 0) throw wrongCall(promoteCommand)
    const { url } = values
    const source = await sideNamed(terminal, values.from, {
      url,
      'key-file': values['from-key-file'],
      keyOption: '--from-key-file',
    })
    const target = await sideNamed(terminal, values.to, {
      url,
      'key-file': values['to-key-file'],
      keyOption: '--to-key-file',
    })
    if (source.id === target.id) throw new UsageError('--from and --to must be different environments')
    const query = { workflows: values.workflow, drafts: String(values.drafts) }
    const { notes, translations, ...parts } = await exported(source.client, query)
    const merged = translations.map((translation) => ({ ...translation, merge: true }))
    const plan = await planned(target.client, { ...parts, translations: merged })
    const topics = values.topics ? await plannedTopics(source.client, target.client) : undefined
    const whole = {
      changes: [...plan.changes, ...(topics?.changes ?? [])],
      notes: [...notes.map(draftsHint), ...plan.notes],
    }
    await applyPlan(terminal, whole, {
      isConfirmed: values.yes,
      json: values.json,
      apply: async () => {
        if (plan.changes.length > 0) await plan.apply()
        await topics?.apply()
      },
    })
  },
}

const draftsHint = (note: string): string =>
  note.replace('is not included.', 'is not promoted; --drafts takes it along.')

interface Side {
  readonly client: ApiClient
  readonly id: string
}

/** A login of that name, else the environment. */
async function sideNamed(terminal: Terminal, name: string, values: ServiceValues): Promise<Side> {
  const isProfile = (await readProfiles(terminal.config)).some((profile) => profile.name === name)
  const isKeyGiven = values['key-file'] !== undefined
  const client = await clientFor(
    terminal,
    isProfile && !isKeyGiven ? { ...values, profile: name } : { ...values, environment: name },
  )
  return { client, id: (await ownEnvironment(client))._id }
}

interface TopicPage {
  readonly data: readonly { readonly key: string; readonly name?: string }[]
  readonly next: string | null
}

async function allTopics(client: ApiClient): Promise<Map<string, string>> {
  const topics = new Map<string, string>()
  let after: string | null | undefined
  do {
    const query = { limit: topicsPerPage, after: after ?? undefined }
    const { body }: { body: TopicPage } = await client.call<TopicPage>('GET', '/v2/topics', { query })
    for (const { key, name } of body.data) topics.set(key, name ?? '')
    if (topics.size > topicsMax) {
      throw new UsageError(`There are more than ${topicsMax} topics: so many are treated as data and are not promoted`)
    }
    after = body.next
  } while (after !== null)
  return topics
}

/** Their keys and names; who is in them belongs to the environment. */
async function plannedTopics(
  source: ApiClient,
  target: ApiClient,
): Promise<{ changes: PlannedChange[]; apply(): Promise<void> }> {
  const there = await allTopics(target)
  const textOf = (name: string | undefined): string => (name === undefined ? '' : `name: ${name}`)
  const differing = [...(await allTopics(source))].filter(([key, name]) => there.get(key) !== name).sort()
  return {
    changes: differing.flatMap(
      ([key, name]) => plannedChange(`topic ${key}`, textOf(there.get(key)), textOf(name)) ?? [],
    ),
    apply: async () => {
      for (const [key, name] of differing) {
        await target.call('POST', '/v2/topics', { body: name === '' ? { key } : { key, name } })
      }
    },
  }
}

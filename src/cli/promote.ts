// posthorn promote: takes workflows, layouts, feeds and topics' definitions from one environment to another. Never credentials.

import type { Environment } from '../domain/environment.ts'
import type { Topic } from '../domain/people/topic.ts'
import type { Layout } from '../domain/workflows/layout.ts'
import type { Store } from '../main/store.ts'
import { upsertTopic } from '../manage/people/topics.ts'
import { createFeed } from '../manage/workflows/feeds.ts'
import { changeLayout, createLayout } from '../manage/workflows/layouts.ts'
import { documentOf } from '../manage/workflows/workflow-document.ts'
import { allFeeds, allLayouts, allTopics, allWorkflows, topicsMax } from '../read/workflows/documents.ts'
import { commandAuthor } from './author.ts'
import type { Command } from './command.ts'
import { UsageError } from './command.ts'
import { parsed } from './terminal/arguments.ts'
import { environmentNamed, withStore } from './with-store.ts'
import type { PlannedChange } from './workflows/change-plan.ts'
import { applyPlan, plannedChange } from './workflows/change-plan.ts'
import { namesIn, workflowChanges } from './workflows/workflow-changes.ts'

export const promoteCommand: Command = {
  name: 'promote',
  usage: ['promote --from Development --to Production [--yes]'],
  run: async (terminal, args) => {
    const { from, to, yes } = readArguments(args)
    await withStore(terminal, async (store) => {
      const [source, target] = [await environmentNamed(store, from), await environmentNamed(store, to)]
      if (source.id === target.id) throw new UsageError('--from and --to must be different environments')
      if (source.organizationId !== target.organizationId) {
        throw new UsageError('--from and --to must be environments of one organization')
      }
      // Workflows last: they name layouts and feeds.
      const changes = [
        ...(await feedChanges(store, source, target)),
        ...(await layoutChanges(store, source, target)),
        ...(await topicChanges(store, source, target)),
        ...(await promotedWorkflows(store, source, target)),
      ]
      await applyPlan(terminal, changes, { isConfirmed: yes })
    })
  },
}

function readArguments(args: readonly string[]): { from: string; to: string; yes: boolean } {
  const { values } = parsed({
    args: [...args],
    options: {
      from: { type: 'string', default: 'Development' },
      to: { type: 'string', default: 'Production' },
      yes: { type: 'boolean', default: false },
    },
  })
  return values
}

async function promotedWorkflows(store: Store, source: Environment, target: Environment): Promise<PlannedChange[]> {
  const names = await namesIn(store, source)
  const wanted = (await allWorkflows(store.db, source)).map((workflow) => ({
    document: documentOf(workflow, names),
    from: `workflow ${workflow.triggers[0]?.identifier ?? ''}`,
  }))
  return workflowChanges(store, target, wanted, { deletes: false })
}

async function layoutChanges(store: Store, source: Environment, target: Environment): Promise<PlannedChange[]> {
  const { db, world } = store
  const there = new Map((await allLayouts(db, target)).map((layout) => [layout.identifier, layout]))
  return (await allLayouts(db, source)).flatMap((layout) => {
    const stored = there.get(layout.identifier)
    const { identifier, name, description, content, isDefault } = layout
    const fields = { identifier, name, description, content, isDefault }
    const call = { contentField: 'content', author: commandAuthor(), idempotency: undefined }
    const apply = async (): Promise<void> => {
      if (stored === undefined) await createLayout(db, world, target, { ...call, layout: fields })
      else await changeLayout(db, world, target, { ...call, layoutId: stored._id, change: fields })
    }
    return plannedChange(`layout ${identifier}`, layoutText(stored), layoutText(layout), apply) ?? []
  })
}

function layoutText(layout: Layout | undefined): string {
  if (layout === undefined) return ''
  const { name, description, isDefault, content } = layout
  return `name: ${name}\ndescription: ${description}\ndefault: ${isDefault}\n${content}`
}

async function feedChanges(store: Store, source: Environment, target: Environment): Promise<PlannedChange[]> {
  const { db, world } = store
  const there = new Set((await allFeeds(db, target)).map((feed) => feed.identifier))
  return (await allFeeds(db, source))
    .filter((feed) => !there.has(feed.identifier))
    .flatMap(({ identifier, name }) => {
      const apply = async (): Promise<void> => {
        await createFeed(db, world, target, { identifier, name, author: commandAuthor(), idempotency: undefined })
      }
      return plannedChange(`feed ${identifier}`, '', `name: ${name}`, apply) ?? []
    })
}

async function topicChanges(store: Store, source: Environment, target: Environment): Promise<PlannedChange[]> {
  const { db, world } = store
  const topics = await allTopics(db, source)
  if (topics.length > topicsMax) {
    throw new UsageError(`There are more than ${topicsMax} topics: so many are treated as data and are not promoted`)
  }
  const there = new Map((await allTopics(db, target)).map((topic) => [topic.key, topic]))
  return topics.flatMap((topic) => {
    const { key, name } = topic
    const apply = async (): Promise<void> => {
      const given = name === undefined ? { key } : { key, name }
      await upsertTopic(db, world, target, { topic: given, failIfExists: false, idempotency: undefined })
    }
    return plannedChange(`topic ${key}`, topicText(there.get(key)), topicText(topic), apply) ?? []
  })
}

const topicText = (topic: Topic | undefined): string => (topic === undefined ? '' : `name: ${topic.name ?? ''}`)

// A workflow as a document: what an author writes, in a fixed order, without what belongs to one environment.
import type { StepFilter } from '../conditions/condition.ts'
import { partsOf } from '../conditions/condition.ts'
import type { NotificationStep, StepTemplate, StepVariant, Workflow } from './workflow.ts'

export type Document = Readonly<Record<string, unknown>>

/** What ids of one environment are called in documents, so that they mean something in another. */
export interface DocumentNames {
  readonly layouts: ReadonlyMap<string, string>
  readonly feeds: ReadonlyMap<string, string>
}

export function documentOf(workflow: Workflow, names: DocumentNames): Document {
  const { name, description, tags, active, critical, severity, preferenceSettings, data } = workflow
  return {
    workflowId: workflow.triggers[0]?.identifier ?? '',
    name,
    ...(description === '' ? {} : { description }),
    ...(tags.length === 0 ? {} : { tags }),
    active,
    ...(critical ? { critical } : {}),
    ...(severity === 'none' ? {} : { severity }),
    ...(Object.values(preferenceSettings).every(Boolean) ? {} : { preferenceSettings: ordered(preferenceSettings) }),
    ...(workflow.payloadSchema === undefined ? {} : { payloadSchema: ordered(workflow.payloadSchema) }),
    ...(workflow.validatePayload === undefined ? {} : { validatePayload: workflow.validatePayload }),
    ...(workflow.isTranslationEnabled === undefined ? {} : { isTranslationEnabled: workflow.isTranslationEnabled }),
    ...(data === undefined ? {} : { data: ordered(data) }),
    steps: workflow.steps.map((step) => stepDocument(step, names)),
  }
}

function stepDocument(step: NotificationStep, names: DocumentNames): Document {
  const variants = step.variants.map((variant) => variantDocument(variant, names))
  return { ...variantDocument(step, names), ...(variants.length === 0 ? {} : { variants }) }
}

function variantDocument(step: StepVariant, names: DocumentNames): Document {
  const { name, uuid, active, shouldStopOnFail, filters, metadata, skip, replyCallback } = step
  return {
    ...(name === undefined ? {} : { name }),
    // Open digests are found by it: a step that keeps it stays the same step.
    uuid,
    ...(active ? {} : { active }),
    ...(shouldStopOnFail ? { shouldStopOnFail } : {}),
    template: templateDocument(step.template, names),
    ...(metadata === undefined ? {} : { metadata: ordered(metadata) }),
    ...(filters.length === 0 ? {} : { filters: ordered(filters.map(asWritten)) }),
    ...(skip === undefined ? {} : { skip: ordered(skip) }),
    ...(replyCallback === undefined ? {} : { replyCallback: ordered(replyCallback) }),
  }
}

/** All parts of a group in one list, as authors write them; which of them public clients can show is for the API to say. */
function asWritten({ moreChildren, ...filter }: StepFilter): unknown {
  return moreChildren === undefined ? filter : { ...filter, children: partsOf({ ...filter, moreChildren }) }
}

function templateDocument(template: StepTemplate, { layouts, feeds }: DocumentNames): Document {
  const { type, layoutId, feedId, ...rest } = template
  return {
    type,
    ...(ordered(rest) as Document),
    ...(layoutId === undefined ? {} : { layoutId: layoutId === null ? null : (layouts.get(layoutId) ?? layoutId) }),
    ...(feedId === undefined ? {} : { feedId: feedId === null ? null : (feeds.get(feedId) ?? feedId) }),
  }
}

/** The most important fields come first, the rest by name: the database does not keep the order of fields. */
const firstMembers = ['type', 'name', 'on', 'field', 'operator', 'value', 'amount', 'unit', 'subject']

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  const rank = (name: string): number => {
    const place = firstMembers.indexOf(name)
    return place === -1 ? firstMembers.length : place
  }
  const entries = Object.entries(value).sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, member]) => [name, ordered(member)]))
}

// Workflows for callers who may not see secrets: what headers hold, and the queries of addresses, are struck out.
import type { FilterPart, StepFilter } from '../conditions/condition.ts'
import type { Principal } from '../environment.ts'
import { mayUse } from '../environment.ts'
import type { NotificationStep, StepMetadata, StepVariant } from './workflow.ts'

const struckOut = '[redacted]'

/** Anything with steps as this principal may see it: secrets are for full keys only. */
export function shownTo<Whole extends { readonly steps: readonly NotificationStep[] }>(
  principal: Principal,
  whole: Whole,
): Whole {
  return mayUse(principal, 'full') ? whole : { ...whole, steps: whole.steps.map(stepWithoutSecrets) }
}

export function stepWithoutSecrets(step: NotificationStep): NotificationStep {
  return { ...variantWithoutSecrets(step), variants: step.variants.map(variantWithoutSecrets) }
}

/** Whether it says, in the place of a secret, what stands there for callers who may not see it. */
export function holdsStruckOut(step: NotificationStep): boolean {
  return [step, ...step.variants].some(({ metadata, filters, replyCallback }) => {
    const called = metadata?.type === 'http' ? [metadata.url, ...Object.values(metadata.headers ?? {})] : []
    const parts = filters.flatMap(({ children, moreChildren = [] }) => [...children, ...moreChildren])
    const asked = parts.flatMap((part) => (part.on === 'webhook' ? [part.webhookUrl] : []))
    return [...called, ...asked, replyCallback?.url ?? ''].some((text) => text.includes(struckOut))
  })
}

function variantWithoutSecrets<Step extends StepVariant>(step: Step): Step {
  const { metadata, filters, replyCallback } = step
  return {
    ...step,
    filters: filters.map(filterWithoutSecrets),
    ...(metadata === undefined ? {} : { metadata: metadataWithoutSecrets(metadata) }),
    ...(replyCallback?.url === undefined
      ? {}
      : { replyCallback: { ...replyCallback, url: addressWithoutSecrets(replyCallback.url) } }),
  }
}

function metadataWithoutSecrets(metadata: StepMetadata): StepMetadata {
  return metadata.type === 'http' ? { ...metadata, ...callWithoutSecrets(metadata) } : metadata
}

/** A custom step's request, with only the names of its headers. */
export function callWithoutSecrets({
  url,
  headers,
}: {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}): { url: string; headers?: Record<string, string> } {
  const names = headers && Object.keys(headers)
  return {
    url: addressWithoutSecrets(url),
    ...(names === undefined ? {} : { headers: Object.fromEntries(names.map((name) => [name, struckOut])) }),
  }
}

function filterWithoutSecrets(filter: StepFilter): StepFilter {
  const { children, moreChildren } = filter
  return {
    ...filter,
    children: children.map(partWithoutSecrets),
    ...(moreChildren === undefined ? {} : { moreChildren: moreChildren.map(partWithoutSecrets) }),
  }
}

const partWithoutSecrets = (part: FilterPart): FilterPart =>
  part.on === 'webhook' ? { ...part, webhookUrl: addressWithoutSecrets(part.webhookUrl) } : part

/** A user name and a password, up to the host. */
const account = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i
/** The query, or a tag: before it runs, its content cannot be distinguished from a query. */
const query = /\?|\{%/

function addressWithoutSecrets(address: string): string {
  const open = address.replace(account, `$1${struckOut}@`)
  const at = open.search(query)
  return at === -1 ? open : `${open.slice(0, at)}?${struckOut}`
}

// The variables a step's templates and conditions see.
import type { TriggeredEvent } from '../../domain/delivery/event.ts'
import { scopeWithVariables } from '../../domain/workflows/environment-variable.ts'
import type { TemplateScope } from '../../domain/workflows/rendering.ts'
import { translations } from '../../domain/workflows/translation.ts'
import type { WorkflowVersion } from '../../domain/workflows/workflow.ts'
import { contextsOf, personOf } from '../../store/people/person.ts'
import type { RecipientRow } from '../../store/people/subscribers.ts'
import type { Facts } from './load-facts.ts'
import { stepsScope } from './previous-steps.ts'
import type { UnsubscribeLinks } from './unsubscribe-headers.ts'

export interface ScopeParts {
  readonly facts: Facts
  readonly event: TriggeredEvent
  readonly subscriber: RecipientRow
  readonly version: WorkflowVersion
  readonly digestId: string | null
  /** Whose earlier steps are visible, if the step needs them. */
  readonly notificationId: string
  readonly links?: UnsubscribeLinks | undefined
}

export function scopeOf({
  facts,
  event,
  subscriber,
  version,
  digestId,
  notificationId,
  links,
}: ScopeParts): TemplateScope {
  const { definition } = version
  const actor = event.actorId === null ? undefined : facts.subscribers.get(event.actorId)
  const tenant = event.tenantId === null ? undefined : facts.tenants.get(event.tenantId)
  const contexts = event.contextKeys === null ? [] : event.contextKeys.flatMap((key) => facts.contexts.get(key) ?? [])
  const digest = digestId === null ? undefined : facts.digests.get(digestId)
  const scope: Record<string, unknown> & TemplateScope = {
    payload: event.payload,
    subscriber: personOf(subscriber),
    actor: actor && personOf(actor),
    tenant: tenant && { identifier: tenant.identifier, name: tenant.name, data: tenant.data ?? {} },
    context: contextsOf(contexts),
    step: {
      digest: digest !== undefined,
      events: digest?.payloads ?? [event.payload],
      total_count: digest?.total ?? 1,
    },
    workflow: {
      identifier: version.identifier,
      name: definition.name,
      tags: definition.tags,
      data: definition.data ?? nothing,
    },
  }
  const { wording } = facts
  if (wording.translations !== undefined) Object.assign(scope, { [translations]: wording.translations })
  if (wording.variables !== undefined) Object.assign(scope, scopeWithVariables(wording.variables, event.payload))
  const unsubscribe = links?.of(subscriber.id, version)
  if (unsubscribe !== undefined) scope['unsubscribe'] = unsubscribe.inTemplates
  const previous = facts.previous.get(notificationId)
  if (previous !== undefined) scope['steps'] = stepsScope(definition.steps, previous, facts.digests)
  // The payload's own fields next to them, unless they would hide one of the roots.
  for (const name of Object.keys(event.payload)) {
    if (!Object.hasOwn(scope, name) && name !== '__proto__') scope[name] = event.payload[name]
  }
  return scope
}

const nothing = {}

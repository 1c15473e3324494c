// Workflow versions by id, for pages that show what was pinned to them: cached up to a limit, as they never change.

import type { Sql } from '../../db/sql.ts'
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Environment } from '../../domain/environment.ts'
import type { ActivityStep } from '../../domain/insight/activity.ts'
import type { WorkflowVersion } from '../../domain/workflows/workflow.ts'
import type { MessageWorkflow } from '../../store/messages/origins.ts'
import type { StoredDefinition } from '../../store/workflows/workflows.ts'
import { findVersions } from '../../store/workflows/workflows.ts'
import { activityStepOf } from './activity-step.ts'

export interface PinnedVersion extends WorkflowVersion {
  readonly definition: StoredDefinition
  /** What its messages show of it. */
  readonly ofMessages: MessageWorkflow
  /** What its jobs show of their steps. */
  readonly ofActivities: readonly ActivityStep[]
  /** One from before identifiers were stored with versions shows the workflow's own, which may change. */
  readonly isFinal: boolean
}

export interface PinnedVersions {
  of(db: Sql, environment: Environment, ids: Iterable<string>): Promise<ReadonlyMap<string, PinnedVersion>>
}

/** Tens of megabytes at the very worst; usually a few hundred kilobytes. */
const versionsMax = 500

export function createPinnedVersions(max = versionsMax): PinnedVersions {
  const cached = new BoundedMap<string, PinnedVersion>(max)
  return {
    of: async (db, environment, ids) => {
      const found = new Map<string, PinnedVersion>()
      const missing = new Set<string>()
      for (const id of ids) {
        const version = cached.get(id)
        if (version === undefined) missing.add(id)
        else found.set(id, version)
      }
      if (missing.size === 0) return found
      for (const row of await findVersions(db, environment, [...missing])) {
        const version = pinnedOf(row)
        found.set(version.id, version)
        if (version.isFinal) cached.set(version.id, version)
      }
      return found
    },
  }
}

function pinnedOf({ id, workflowId, identifier, definition }: WorkflowVersion): PinnedVersion {
  const stored = definition as StoredDefinition
  const { name, tags, critical, steps } = stored
  const shown = steps.map((step) => ({
    uuid: step.uuid,
    templateId: step._templateId,
    feedId: step.template.feedId ?? null,
  }))
  const ofMessages = { id: workflowId, identifier, name, tags, critical, steps: shown }
  const isFinal = (definition as { identifier?: string }).identifier !== undefined
  return {
    id,
    workflowId,
    identifier,
    definition: stored,
    ofMessages,
    ofActivities: steps.map(activityStepOf),
    isFinal,
  }
}

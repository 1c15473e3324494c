// An unsaved workflow, built from what a caller would save: rejected for the same errors, and not stored.
import type { TriedWorkflow } from '../accept/judge-events.ts'
import type { Sql } from '../db/sql.ts'
import { slugOf } from '../domain/delivery/integration.ts'
import type { Environment } from '../domain/environment.ts'
import type { FieldErrors } from '../domain/problem.ts'
import { invalid, Problem } from '../domain/problem.ts'
import type { WorkflowChange } from '../manage/workflows/workflow-definition.ts'
import { newDefinition } from '../manage/workflows/workflow-definition.ts'
import { refuseNames } from '../manage/workflows/workflow-names.ts'
import { examineAhead } from '../render/examine.ts'
import { judgeSchemaAhead } from '../render/payload/schema-verdicts.ts'
import { findFeedNames } from '../store/workflows/feeds.ts'
import type { Named } from '../store/workflows/layouts.ts'
import { findLayoutNames } from '../store/workflows/layouts.ts'
import type { Threads } from '../world/threads.ts'

/** Active unless it says otherwise: who tries it wants to see it run. */
export async function tryWorkflow(
  db: Sql,
  threads: Threads | undefined,
  environment: Environment,
  given: WorkflowChange & { name: string },
  newId: () => string,
): Promise<TriedWorkflow> {
  try {
    await examineAhead(threads, given)
    await judgeSchemaAhead(threads, given.payloadSchema)
    const definition = newDefinition(given, newId)
    await refuseNames(definition, {
      layouts: (names) => unknownAmong(names, () => findLayoutNames(db, environment, names)),
      feeds: (names) => unknownAmong(names, () => findFeedNames(db, environment, names)),
    })
    const identifier = given.workflowId ?? (slugOf(given.name) || 'workflow')
    return { active: given.active ?? true, version: { id: newId(), workflowId: newId(), identifier, definition } }
  } catch (error) {
    throw error instanceof Problem ? below('workflow', error) : error
  }
}

/** The same errors, by their path in this body. */
function below(field: string, problem: Problem): Problem {
  const errors = problem.members['errors'] as FieldErrors | undefined
  if (problem.status !== 422 || errors === undefined) return problem
  return invalid(
    Object.fromEntries(Object.entries(errors).map(([path, messages]) => [`${field}.${path}`, messages])),
    problem.message,
  )
}

async function unknownAmong(names: readonly string[], find: () => Promise<readonly Named[]>): Promise<string[]> {
  if (names.length === 0) return []
  const known = new Set((await find()).flatMap(({ id, identifier }) => [id, identifier]))
  return names.filter((name) => !known.has(name))
}

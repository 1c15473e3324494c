// What the steps of a workflow refer to that is stored elsewhere: layouts and feeds. Missing ones are rejected.
import type { Tx } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { StepVariant, WorkflowDefinition } from '../../domain/workflows/workflow.ts'
import { unknownFeeds } from './feeds.ts'
import { unknownLayouts } from './layouts.ts'
import { refuseMistakes } from './workflow-rules.ts'

interface Named {
  readonly member: 'layoutId' | 'feedId'
  readonly name: string
  readonly path: string
}

/** Those that are there cannot be deleted before the transaction ends. */
export async function refuseUnknownNames(
  tx: Tx,
  environment: Environment,
  definition: WorkflowDefinition,
  shownPath: (path: string) => string = (path) => path,
): Promise<void> {
  const unknown = {
    layouts: (names: readonly string[]) => unknownLayouts(tx, environment, names),
    feeds: (names: readonly string[]) => unknownFeeds(tx, environment, names),
  }
  await refuseNames(definition, unknown, shownPath)
}

type Unknown = (names: readonly string[]) => Promise<readonly string[]>

/** By the code that knows which of the names do not exist. */
export async function refuseNames(
  { steps }: WorkflowDefinition,
  find: { layouts: Unknown; feeds: Unknown },
  shownPath: (path: string) => string = (path) => path,
): Promise<void> {
  const named = steps.flatMap((step, place) => [
    ...namesIn(step, `steps.${place}`),
    ...step.variants.flatMap((variant, index) => namesIn(variant, `steps.${place}.variants.${index}`)),
  ])
  if (named.length === 0) return
  const namesOf = (member: Named['member']): string[] => [
    ...new Set(named.filter((one) => one.member === member).map((one) => one.name)),
  ]
  const unknown = {
    layoutId: new Set(await find.layouts(namesOf('layoutId'))),
    feedId: new Set(await find.feeds(namesOf('feedId'))),
  }
  refuseMistakes(
    named
      .filter(({ member, name }) => unknown[member].has(name))
      .map(({ member, name, path }) => ({ path: shownPath(path), message: messages[member](name) })),
  )
}

const messages = {
  layoutId: (name: string) => `is an unknown layout, ${name}: omit it to use the default, or use null for none`,
  feedId: (name: string) => `is an unknown feed, ${name}: create it first, or omit it`,
}

function namesIn({ template }: StepVariant, path: string): Named[] {
  const { type, layoutId, feedId } = template
  return [
    ...(type === 'email' && layoutId && layoutId !== 'none'
      ? [{ member: 'layoutId' as const, name: layoutId, path: `${path}.template.layoutId` }]
      : []),
    ...(type === 'in_app' && feedId
      ? [{ member: 'feedId' as const, name: feedId, path: `${path}.template.feedId` }]
      : []),
  ]
}

// The configuration of an environment as documents: /v1/configuration.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { Turn } from '../../../domain/turn.ts'
import type { ConfigurationChange } from '../../../domain/workflows/configuration.ts'
import { configurationActions, configurationKinds } from '../../../domain/workflows/configuration.ts'
import { layoutLengthMax, layoutsMax } from '../../../domain/workflows/layout.ts'
import { localesMax } from '../../../domain/workflows/translation.ts'
import { applyConfiguration } from '../../../manage/workflows/configuration.ts'
import { exportedConfiguration, storedConfiguration } from '../../../read/workflows/configuration.ts'
import { changeElsewhere } from '../../../render/workflow-text/texts-elsewhere.ts'
import type { Threads } from '../../../world/threads.ts'
import { route } from '../../route.ts'
import { freeObject, identifierText, literals, nullableFreeObject } from '../../schemas.ts'
import { layoutIdentifier, layoutName } from './layouts.ts'
import { createWorkflowBody, workflowExample } from './workflow-schemas.ts'
import { diffLines, shownLine } from './workflow-version-schemas.ts'

/** Hundreds of workflows with long e-mails; larger ones are sent in parts. */
const bodyLimitBytes = 16 * 1024 * 1024
const workflowsPerCallMax = 1_000
const feedsPerCallMax = 1_000
/** Comparing two long texts takes up to 20 ms. */
const changesWithLinesMax = 20

const feed = Type.Object(
  { identifier: layoutIdentifier, name: identifierText({ maxLength: 255 }) },
  { title: 'FeedDocument' },
)
const layout = Type.Object(
  {
    identifier: layoutIdentifier,
    name: layoutName,
    description: Type.Optional(Type.String({ maxLength: 1_000 })),
    content: Type.String({ minLength: 1, maxLength: layoutLengthMax }),
    isDefault: Type.Optional(Type.Boolean()),
  },
  { title: 'LayoutDocument' },
)
const translation = { locale: Type.String({ minLength: 2, maxLength: 40 }), texts: freeObject() }
const workflows = Type.Array(freeObject(), { description: 'As `POST /v1/workflows` accepts them.' })
const notes = (description: string) => Type.Array(Type.String(), { description })
const configuration = Type.Object(
  {
    feeds: Type.Array(feed),
    layouts: Type.Array(layout),
    translations: Type.Array(Type.Object(translation, { title: 'TranslationDocument' })),
    workflows,
    notes: notes('What the workflows use that is not included, as sentences.'),
  },
  { title: 'Configuration' },
)
const change = Type.Object(
  {
    kind: literals(configurationKinds),
    identifier: Type.String({ description: 'For translations, the locale.' }),
    action: literals(configurationActions),
    before: nullableFreeObject({ description: 'As it is stored; null for a creation.' }),
    after: nullableFreeObject({ description: 'As it will be; null for a deletion.' }),
    lines: Type.Optional(diffLines),
  },
  { title: 'ConfigurationChange' },
)
const shared = { tag: 'Workflows', category: 'configuration', path: '/v1/configuration' } as const

async function withLines(threads: Threads | undefined, changes: readonly ConfigurationChange[]): Promise<object[]> {
  const turn = new Turn()
  const shown: object[] = []
  for (const [place, one] of changes.entries()) {
    if (turn.isOver()) await turn.next()
    if (place >= changesWithLinesMax) shown.push(one)
    else shown.push({ ...one, lines: (await changeElsewhere(threads, one)).map(shownLine) })
  }
  return shown
}

export const configurationRoutes = [
  route({
    ...shared,
    method: 'GET',
    operationId: 'exportConfiguration',
    summary: 'Export workflows and what they refer to',
    description:
      'As documents without ids of this environment, for files or for `POST /v1/configuration` of another environment. Never credentials. Header values of custom steps and query strings of URLs are `[redacted]` for keys without the scope `full`.',
    scope: 'read',
    cost: 20,
    query: Type.Object({
      workflows: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
          maxItems: 100,
          description: 'Only these, by identifier, with the layouts, feeds and texts that they use.',
        }),
      ),
      drafts: Type.Optional(
        Type.Boolean({ description: 'Whether inactive workflows are included, too. Default: true.' }),
      ),
    }),
    replies: { 200: configuration },
    errors: [404],
    writtenBy: JSON.stringify,
    handle: async ({ db }, { principal, query }) => ok(await exportedConfiguration(db, principal, query)),
  }),
  route({
    ...shared,
    method: 'POST',
    operationId: 'applyConfiguration',
    summary: 'Create and change workflows and what they refer to',
    description:
      'What differs is created or changed; what is not given stays, unless `deleteWorkflows` is set. Everything is checked before the first change. Each change is a transaction and an audit entry of its own: a call that failed can be repeated.',
    scope: 'workflows:write',
    cost: 100,
    bodyLimitBytes,
    body: Type.Object(
      {
        feeds: Type.Optional(Type.Array(feed, { maxItems: feedsPerCallMax })),
        layouts: Type.Optional(Type.Array(layout, { maxItems: layoutsMax })),
        translations: Type.Optional(
          Type.Array(
            Type.Object(
              {
                ...translation,
                merge: Type.Optional(
                  Type.Boolean({ description: 'Whether texts that are stored and not given stay. Default: false.' }),
                ),
              },
              { title: 'GivenTranslation' },
            ),
            { maxItems: localesMax },
          ),
        ),
        workflows: Type.Optional(
          Type.Array(createWorkflowBody, {
            maxItems: workflowsPerCallMax,
            description: 'Each with its `workflowId`.',
          }),
        ),
        deleteWorkflows: Type.Optional(
          Type.Boolean({ description: 'Whether workflows that are not given are deleted. Default: false.' }),
        ),
        dryRun: Type.Optional(Type.Boolean({ description: 'Whether to only report the changes. Default: false.' })),
        lines: Type.Optional(
          Type.Boolean({
            description: `Whether the first ${changesWithLinesMax} changes come with the lines that differ, for people. Default: false.`,
          }),
        ),
      },
      {
        title: 'ApplyConfiguration',
        examples: [{ workflows: [workflowExample], dryRun: true }],
      },
    ),
    replies: {
      200: Type.Object(
        {
          dryRun: Type.Boolean(),
          changes: Type.Array(change, { description: 'In the order in which they are made.' }),
          notes: notes('What will not work in this environment, as sentences.'),
        },
        { title: 'AppliedConfiguration' },
      ),
    },
    errors: [413],
    writtenBy: JSON.stringify,
    handle: async ({ db, world }, { principal, author, body, idempotency }) => {
      const { dryRun = false, lines = false, ...given } = body
      // Without their names they matter only where the others are deleted.
      const named = (given.workflows ?? []).flatMap(({ workflowId }) => workflowId ?? [])
      const called = given.deleteWorkflows === true ? 'all for deletion' : named
      const stored = await storedConfiguration(db, principal.environment, called)
      const context = { db, world, principal, author, stored }
      const answer = await applyConfiguration(context, { given, dryRun, idempotency })
      if (!lines) return answer
      return { ...answer, body: { ...answer.body, changes: await withLines(world.threads, answer.body.changes) } }
    },
  }),
]

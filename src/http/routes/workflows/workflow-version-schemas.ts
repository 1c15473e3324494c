// The schemas of versions of workflows, of their differences and of bundles.
import { Type } from 'typebox'
import { layoutLengthMax, layoutsMax } from '../../../domain/workflows/layout.ts'
import { freeObject, identifierText, literals, timestamp } from '../../schemas.ts'
import { layoutIdentifier, layoutName } from './layouts.ts'
import { createWorkflowBody } from './workflow-schemas.ts'

const bundledFeedsMax = 50

/** Numbers start at 1. */
export const versionText = (description: string) =>
  Type.String({ pattern: '^(?:current|[1-9][0-9]{0,8})$', maxLength: 9, description })

export const version = Type.Object(
  {
    number: Type.Integer(),
    name: Type.String(),
    identifier: Type.String({ description: 'The trigger identifier at the time.' }),
    steps: Type.Integer({ description: 'How many steps it has.' }),
    isCurrent: Type.Boolean({ description: 'Whether new events use it.' }),
    createdAt: timestamp({ description: 'When it was saved.' }),
  },
  { title: 'WorkflowVersion' },
)

const line = Type.Object({ kind: literals(['same', 'added', 'removed']), text: Type.String() }, { title: 'DiffLine' })
const lines = Type.Array(line, { description: 'Lines that differ, with a few around them; empty if nothing differs.' })

export const versionDiffReply = Type.Object(
  { from: Type.Integer(), to: Type.Integer(), lines },
  { title: 'WorkflowVersionDiff' },
)

const layouts = Type.Array(
  Type.Object({
    identifier: layoutIdentifier,
    name: layoutName,
    description: Type.Optional(Type.String({ maxLength: 1_000 })),
    content: Type.String({ minLength: 1, maxLength: layoutLengthMax }),
  }),
  { maxItems: layoutsMax, description: 'The layouts that the workflow names.' },
)
const feeds = Type.Array(
  Type.Object({ identifier: identifierText({ maxLength: 255 }), name: identifierText({ maxLength: 255 }) }),
  { maxItems: bundledFeedsMax, description: 'The feeds that the workflow names.' },
)

export const bundle = Type.Object(
  {
    workflow: freeObject({ description: 'The workflow, with layouts and feeds by identifier.' }),
    layouts,
    feeds,
    files: Type.Array(Type.Object({ path: Type.String(), text: Type.String() }), {
      description: 'The workflow as `posthorn workflows pull` writes it: YAML, and long texts beside it.',
    }),
  },
  { title: 'WorkflowBundle' },
)

/** Groups have ids of one environment. */
const { notificationGroupId: _group, ...workflowMembers } = createWorkflowBody.properties
const exampleWorkflow = {
  workflowId: 'order-shipped',
  name: 'Order shipped',
  active: true,
  steps: [{ name: 'In-app', template: { type: 'in_app', content: 'Order {{ order.id }} is on its way' } }],
}

export const bundleBody = Type.Object(
  {
    workflow: Type.Object(
      {
        ...workflowMembers,
        workflowId: Type.String({
          minLength: 1,
          maxLength: 255,
          pattern: '^[A-Za-z0-9_.:-]+$',
          description: 'The trigger identifier of the workflow to create or change.',
        }),
      },
      { title: 'BundledWorkflow', examples: [exampleWorkflow] },
    ),
    layouts: Type.Optional(layouts),
    feeds: Type.Optional(feeds),
  },
  { title: 'WriteWorkflowBundle', examples: [{ workflow: exampleWorkflow }] },
)

export const bundleChanges = Type.Object(
  {
    changes: Type.Array(
      Type.Object(
        {
          resource: literals(['workflow', 'layout', 'feed']),
          identifier: Type.String(),
          kind: literals(['create', 'change']),
          lines,
        },
        { title: 'BundleChange' },
      ),
    ),
  },
  { title: 'BundleChanges' },
)

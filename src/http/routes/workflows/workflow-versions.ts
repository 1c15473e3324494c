// Versions of workflows, and bundles that take a workflow to another environment: /v1/workflows/…/versions, /v1/workflow-bundles.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import type { DiffLine } from '../../../domain/workflows/text-diff.ts'
import type { Bundle, BundleChange } from '../../../manage/workflows/workflow-bundles.ts'
import { bundleDiff, bundleOf, writeBundle } from '../../../manage/workflows/workflow-bundles.ts'
import { unknownWorkflow } from '../../../manage/workflows/workflow-rules.ts'
import type { VersionName } from '../../../manage/workflows/workflow-versions.ts'
import { restoreVersion, versionDiff, workflowAt } from '../../../manage/workflows/workflow-versions.ts'
import { versionsPage } from '../../../read/workflows/workflow-versions.ts'
import { workflowOf } from '../../../store/workflows/workflows.ts'
import { route } from '../../route.ts'
import { offsetPage, offsetParameters, pageLimitMax } from '../../schemas.ts'
import { workflow } from './workflow-schemas.ts'
import {
  bundle,
  bundleBody,
  bundleChanges,
  version,
  versionDiffReply,
  versionText,
} from './workflow-version-schemas.ts'

const workflowId = Type.String({ minLength: 1, maxLength: 255, description: 'The `_id` or the trigger identifier.' })
const params = Type.Object({ workflowId })
const versionParams = Type.Object({ workflowId, version: versionText('The number of the version, or `current`.') })
const shared = { tag: 'Workflows', category: 'configuration' } as const
const path = '/v1/workflows/{workflowId}'

const versionOf = (text: string): VersionName => (text === 'current' ? 'current' : Number(text))
const words = { ' ': 'same', '-': 'removed', '+': 'added' } as const
const shownLine = ({ sign, text }: DiffLine) => ({ kind: words[sign], text })
const shownChanges = (changes: readonly BundleChange[]) => ({
  changes: changes.map((change) => ({ ...change, lines: change.lines.map(shownLine) })),
})
const given = ({ layouts = [], feeds = [], ...rest }: { workflow: object; layouts?: unknown[]; feeds?: unknown[] }) =>
  ({ ...rest, layouts, feeds }) as unknown as Bundle

export const workflowVersionRoutes = [
  route({
    ...shared,
    method: 'GET',
    path: `${path}/versions`,
    operationId: 'listWorkflowVersions',
    summary: 'List the versions of a workflow',
    description:
      'Newest first. Each change of its content or identifier is a version; notifications continue with the version they started with.',
    scope: 'read',
    params,
    query: Type.Object(offsetParameters(pageLimitMax)),
    replies: { 200: offsetPage('WorkflowVersionPage', version) },
    errors: [404],
    handle: async ({ db }, { principal, params, query }) => {
      const asked = { idOrIdentifier: params.workflowId, page: query.page ?? 0, limit: query.limit ?? 10 }
      const page = await versionsPage(db, principal.environment, asked)
      if (page === undefined) throw unknownWorkflow(params.workflowId)
      return ok({ ...page, data: page.data.map((one) => ({ ...one, createdAt: one.createdAt.toISOString() })) })
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: `${path}/versions/{version}/diff`,
    operationId: 'compareWorkflowVersions',
    summary: 'Compare two versions of a workflow',
    description:
      'What changed from this version to another, line by line, as `posthorn workflows pull` writes it. Values that may be secret are `[redacted]`.',
    scope: 'read',
    params: versionParams,
    query: Type.Object({ to: Type.Optional(versionText('The version to compare with; `current` when left out.')) }),
    replies: { 200: versionDiffReply },
    errors: [404],
    handle: async ({ db }, { principal, params, query }) => {
      const range = { from: versionOf(params.version), to: versionOf(query.to ?? 'current') }
      const { lines, ...diff } = await versionDiff(db, principal, params.workflowId, range)
      return ok({ ...diff, lines: lines.map(shownLine) })
    },
  }),
  route({
    ...shared,
    method: 'POST',
    path: `${path}/versions/{version}/restore`,
    operationId: 'restoreWorkflowVersion',
    summary: 'Restore a version of a workflow',
    description:
      'Saves the content of the version again, as a new version. The identifier, and whether the workflow is active, stay as they are.',
    scope: 'workflows:write',
    params: versionParams,
    replies: { 200: workflow },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, params, idempotency }) => {
      const call = { id: params.workflowId, version: versionOf(params.version), author, idempotency }
      return restoreVersion(db, world, principal, call)
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: `${path}/bundle`,
    operationId: 'retrieveWorkflowBundle',
    summary: 'Retrieve a workflow as a bundle',
    description:
      'The workflow with the layouts and feeds that it names, free of ids of this environment, and as files. Write it to another environment with a key of that environment. Header values of custom steps and query strings of URLs are `[redacted]` for keys without the scope `full`.',
    scope: 'read',
    params,
    query: Type.Object({ version: Type.Optional(versionText('The version; `current` when left out.')) }),
    replies: { 200: bundle },
    errors: [404],
    handle: async ({ db }, { principal, params, query }) => {
      const { environment } = principal
      const found = await workflowAt(db, environment, params.workflowId, versionOf(query.version ?? 'current'))
      return ok(await bundleOf(db, principal, workflowOf(environment, found)))
    },
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/workflow-bundles/diff',
    operationId: 'compareWorkflowBundle',
    summary: 'Preview writing a workflow bundle',
    description: 'What writing the bundle to this environment would change, line by line. Nothing is written.',
    scope: 'workflows:write',
    body: bundleBody,
    replies: { 200: bundleChanges },
    handle: async ({ db, world }, { principal, author, body }) =>
      ok(shownChanges(await bundleDiff(db, world, principal, { bundle: given(body), author }))),
  }),
  route({
    ...shared,
    method: 'PUT',
    path: '/v1/workflow-bundles',
    operationId: 'writeWorkflowBundle',
    summary: 'Write a workflow bundle',
    description:
      'Creates or changes the workflow with this identifier, after the layouts and feeds that it names. The answer is what changed; a repetition changes nothing.',
    scope: 'workflows:write',
    body: bundleBody,
    replies: { 200: bundleChanges },
    errors: [409],
    handle: async ({ db, world }, { principal, author, body }) =>
      ok(shownChanges(await writeBundle(db, world, principal, { bundle: given(body), author }))),
  }),
]

// Versions of workflows: /v1/workflows/{workflowId}/versions.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { unknownWorkflow } from '../../../manage/workflows/workflow-rules.ts'
import type { VersionName } from '../../../manage/workflows/workflow-versions.ts'
import { restoreVersion, versionDiff, versionFiles } from '../../../manage/workflows/workflow-versions.ts'
import { versionsPage } from '../../../read/workflows/workflow-versions.ts'
import { route } from '../../route.ts'
import { offsetPage, offsetParameters, pageLimitMax } from '../../schemas.ts'
import { workflow } from './workflow-schemas.ts'
import { shownLine, version, versionDiffReply, versionFilesReply, versionText } from './workflow-version-schemas.ts'

const workflowId = Type.String({ minLength: 1, maxLength: 255, description: 'The `_id` or the trigger identifier.' })
const params = Type.Object({ workflowId })
const versionParams = Type.Object({ workflowId, version: versionText('The number of the version, or `current`.') })
const shared = { tag: 'Workflows', category: 'configuration' } as const
const path = '/v1/workflows/{workflowId}'

const versionOf = (text: string): VersionName => (text === 'current' ? 'current' : Number(text))

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
    handle: async (service, { principal, params, query }) => {
      const range = { from: versionOf(params.version), to: versionOf(query.to ?? 'current') }
      const { lines, ...diff } = await versionDiff(service, principal, params.workflowId, range)
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
    query: Type.Object({
      ifCurrent: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 999_999_999,
          description:
            'The number of the version that is current as you know it. If another one was saved since, nothing is restored (409).',
        }),
      ),
    }),
    replies: { 200: workflow },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, params, query: { ifCurrent }, idempotency }) => {
      const call = { id: params.workflowId, version: versionOf(params.version), ifCurrent, author, idempotency }
      return restoreVersion(db, world, principal, call)
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: `${path}/versions/{version}/files`,
    operationId: 'retrieveWorkflowFiles',
    summary: 'Retrieve a version of a workflow as files',
    description:
      'As `posthorn workflows pull` writes it: YAML, and long texts beside it. Header values of custom steps and query strings of URLs are `[redacted]` for keys without the scope `full`.',
    scope: 'read',
    params: versionParams,
    replies: { 200: versionFilesReply },
    errors: [404],
    handle: async (service, { principal, params }) =>
      ok(await versionFiles(service, principal, params.workflowId, versionOf(params.version))),
  }),
]

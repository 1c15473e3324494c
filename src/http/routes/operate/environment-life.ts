// Environments come and go: /v1/environments.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { notFound } from '../../../domain/problem.ts'
import { createEnvironment, deleteEnvironment, renameEnvironment } from '../../../manage/operate/environment-life.ts'
import { workflowTags } from '../../../read/operate/environments.ts'
import { listDeletions } from '../../../store/operate/environment-deletions.ts'
import { route } from '../../route.ts'
import { identifierText, literals, nullableString, timestamp, uuid } from '../../schemas.ts'
import { environment, environmentMembers } from './environments.ts'

const color = Type.String({ pattern: '^#[0-9a-fA-F]{6}$', description: 'As dashboards show it, such as `#ff8800`.' })
const name = identifierText({ maxLength: 100 })
const params = Type.Object({ environmentId: uuid() })
const newEnvironment = Type.Object(
  {
    ...environmentMembers,
    apiKeys: Type.Array(Type.Object({ key: Type.String(), _userId: Type.String() }), {
      description: 'The first key of the environment. This is the only time it is shown.',
    }),
  },
  { title: 'NewEnvironment' },
)
const deletion = Type.Object(
  {
    environmentId: Type.String(),
    name: Type.String({ description: 'What the environment was called.' }),
    status: literals(['running', 'completed']),
    phase: Type.String({ description: 'The table that is being emptied; `settling`, then `done`.' }),
    removed: Type.Record(Type.String(), Type.Integer(), {
      description: 'How many rows were removed so far, by table.',
    }),
    requestedBy: Type.String({ description: 'The id of the API key that asked for it, or `cli`.' }),
    requestedAt: timestamp(),
    completedAt: nullableString({ format: 'date-time' }),
  },
  { title: 'EnvironmentDeletion' },
)
const shared = { tag: 'Environments', category: 'global', scope: 'full' } as const

export const environmentLifeRoutes = [
  route({
    ...shared,
    method: 'POST',
    path: '/v1/environments',
    operationId: 'createEnvironment',
    summary: 'Create an environment',
    description:
      'In the organization of the key, with the built-in integrations, of which e-mail and SMS are captured, and with a first API key.',
    body: Type.Object(
      { name, parentId: Type.Optional(uuid()), color: Type.Optional(color) },
      { title: 'CreateEnvironment', examples: [{ name: 'Staging', color: '#ff8800' }] },
    ),
    replies: { 201: newEnvironment },
    errors: [409],
    handle: ({ db, world }, { principal, author, body, idempotency }) => {
      const { name, parentId, color } = body
      return createEnvironment(db, world, principal.environment, { name, parentId, color, author, idempotency })
    },
  }),
  route({
    ...shared,
    method: 'PUT',
    path: '/v1/environments/{environmentId}',
    operationId: 'updateEnvironment',
    summary: 'Rename an environment',
    description:
      'With a key of the environment itself. Members that are absent stay; Development and Production keep their names.',
    params,
    body: Type.Object(
      { name: Type.Optional(name), color: Type.Optional(color) },
      { title: 'UpdateEnvironment', examples: [{ color: '#0088ff' }] },
    ),
    replies: { 200: environment },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, params, body, idempotency }) => {
      const call = { id: params.environmentId, name: body.name, color: body.color, author, idempotency }
      return renameEnvironment(db, world, principal.environment, call)
    },
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v1/environments/{environmentId}',
    operationId: 'deleteEnvironment',
    summary: 'Delete an environment',
    description:
      'With a key of the environment itself. Its keys stop at once and nothing more is sent; everything but its audit log is erased in the background, and `GET /v1/environments/deletions` shows how far that has come. It cannot be undone: where the environment holds workflows, subscribers or events, its name must be repeated as `confirm`. Development and Production cannot be deleted.',
    cost: 100,
    params,
    query: Type.Object({ confirm: Type.Optional(Type.String({ maxLength: 255, description: 'The name.' })) }),
    replies: { 200: deletion },
    errors: [404, 409],
    handle: ({ db, world, queue }, { principal, author, params, query, idempotency }) => {
      const call = { id: params.environmentId, confirm: query.confirm, author, idempotency }
      return deleteEnvironment(db, world, principal.environment, queue, call)
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/environments/deletions',
    operationId: 'listEnvironmentDeletions',
    summary: 'List deleted environments',
    description: 'Newest first, with what was removed so far.',
    replies: { 200: Type.Array(deletion) },
    handle: async ({ db }, { principal }) => ok(await listDeletions(db, principal.environment)),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v2/environments/{environmentId}/tags',
    operationId: 'listEnvironmentTags',
    summary: 'List the tags of workflows',
    scope: 'read',
    params,
    replies: { 200: Type.Array(Type.Object({ name: Type.String() }, { title: 'EnvironmentTag' })) },
    errors: [404],
    handle: async ({ db }, { principal, params }) => {
      const { environmentId } = params
      if (environmentId !== principal.environment.id) throw notFound(`Environment with id ${environmentId} not found`)
      return ok(await workflowTags(db, principal.environment))
    },
  }),
]

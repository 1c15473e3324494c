// Variables of an environment: /v1/environment-variables.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import {
  variableKeyPattern,
  variablesMax,
  variableValueLengthMax,
} from '../../../domain/workflows/environment-variable.ts'
import {
  changeVariable,
  createVariable,
  removeVariable,
  shownVariable,
  shownVariables,
  variableUsage,
} from '../../../manage/operate/environment-variables.ts'
import { route } from '../../route.ts'
import { literals, timestamp, uuid } from '../../schemas.ts'

const key = Type.String({
  pattern: variableKeyPattern,
  description: 'Letters, digits and underscores, at most 100.',
  examples: ['SHOP_URL'],
})
const params = Type.Object({ variableKey: key })
const type = literals(['string'])
const isSecret = Type.Boolean({
  description:
    'Never shown again, in no response and in no message: secret values are printed only in the headers of custom steps.',
})
const values = Type.Array(
  Type.Object({ _environmentId: uuid(), value: Type.String({ maxLength: variableValueLengthMax }) }),
  { maxItems: 20, description: 'The value, for the environment of the API key.' },
)
const variable = Type.Object(
  {
    _id: Type.String(),
    _organizationId: Type.String(),
    key: Type.String(),
    type,
    isSecret: Type.Boolean(),
    values: Type.Array(
      Type.Object({
        _environmentId: Type.String(),
        value: Type.String({ description: '`[hidden]` if it is secret.' }),
      }),
    ),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'EnvironmentVariable' },
)
const shared = { tag: 'Environments', category: 'configuration' } as const
const path = '/v1/environment-variables'

export const environmentVariableRoutes = [
  route({
    ...shared,
    method: 'GET',
    path,
    operationId: 'listEnvironmentVariables',
    summary: 'List the variables of the environment',
    description: `In alphabetical order. There are at most ${variablesMax}.`,
    scope: 'read',
    query: Type.Object({
      search: Type.Optional(Type.String({ maxLength: 100, description: 'Text contained in the key.' })),
    }),
    replies: { 200: Type.Array(variable) },
    handle: async ({ db, world }, { principal, query }) =>
      ok(await shownVariables(db, world, principal.environment, query.search)),
  }),
  route({
    ...shared,
    method: 'POST',
    path,
    operationId: 'createEnvironmentVariable',
    summary: 'Create a variable',
    description: 'Templates print it as `{{ env.KEY }}`.',
    scope: 'full',
    body: Type.Object(
      { key, type: Type.Optional(type), isSecret: Type.Optional(isSecret), values: Type.Optional(values) },
      { title: 'CreateEnvironmentVariable', examples: [{ key: 'SHOP_URL' }] },
    ),
    replies: { 200: variable },
    errors: [409],
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      createVariable(db, world, principal.environment, { ...body, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'GET',
    path: `${path}/{variableKey}`,
    operationId: 'retrieveEnvironmentVariable',
    summary: 'Retrieve a variable',
    scope: 'read',
    params,
    replies: { 200: variable },
    errors: [404],
    handle: async ({ db, world }, { principal, params }) =>
      ok(await shownVariable(db, world, principal.environment, params.variableKey)),
  }),
  route({
    ...shared,
    method: 'PATCH',
    path: `${path}/{variableKey}`,
    operationId: 'updateEnvironmentVariable',
    summary: 'Update a variable',
    description: 'Members that are absent stay. A secret is made an ordinary variable only together with a new value.',
    scope: 'full',
    params,
    body: Type.Object(
      {
        key: Type.Optional(key),
        type: Type.Optional(type),
        isSecret: Type.Optional(isSecret),
        values: Type.Optional(values),
      },
      { title: 'UpdateEnvironmentVariable', examples: [{ isSecret: true }] },
    ),
    replies: { 200: variable },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, params, body, idempotency }) =>
      changeVariable(db, world, principal.environment, { ...params, ...body, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: `${path}/{variableKey}`,
    operationId: 'deleteEnvironmentVariable',
    summary: 'Delete a variable',
    description: 'Templates that name it print nothing in its place.',
    scope: 'full',
    params,
    replies: { 204: null },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      removeVariable(db, world, principal.environment, { key: params.variableKey, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'GET',
    path: `${path}/{variableKey}/usage`,
    operationId: 'retrieveEnvironmentVariableUsage',
    summary: 'List the workflows that use a variable',
    scope: 'read',
    params,
    replies: {
      200: Type.Object(
        { workflows: Type.Array(Type.Object({ name: Type.String(), workflowId: Type.String() })) },
        { title: 'EnvironmentVariableUsage' },
      ),
    },
    errors: [404],
    handle: async ({ db, world }, { principal, params }) => {
      const users = await variableUsage(db, world, principal.environment, params.variableKey)
      return ok({ workflows: users.map(({ name, identifier }) => ({ name, workflowId: identifier })) })
    },
  }),
]

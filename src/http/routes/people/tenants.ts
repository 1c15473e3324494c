// Tenants: /v1/tenants.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { changeTenant, createTenant, removeTenant, unknownTenant } from '../../../manage/people/tenants.ts'
import { tenantsPage } from '../../../read/people/tenants.ts'
import { findTenant } from '../../../store/people/tenants.ts'
import { route } from '../../route.ts'
import {
  freeObject,
  identifierText,
  nullableFreeObject,
  nullableString,
  offsetPage,
  offsetParameters,
  timestamp,
} from '../../schemas.ts'

const tenant = Type.Object(
  {
    _id: Type.String(),
    identifier: Type.String(),
    name: Type.Optional(Type.String()),
    data: Type.Optional(freeObject()),
    _environmentId: Type.String(),
    _organizationId: Type.String(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'Tenant' },
)
const identifier = identifierText({ maxLength: 255, description: 'The identifier of the tenant in your own system.' })
const name = nullableString({ maxLength: 255 })
const data = nullableFreeObject({ description: 'Custom data, available to templates.' })
const params = Type.Object({ identifier })
const shared = { tag: 'Tenants', category: 'configuration' } as const

export const tenantRoutes = [
  route({
    ...shared,
    method: 'GET',
    path: '/v1/tenants',
    operationId: 'listTenants',
    summary: 'List tenants',
    scope: 'read',
    query: Type.Object(offsetParameters(100)),
    replies: { 200: offsetPage('TenantPage', tenant) },
    handle: async ({ db }, { principal, query }) =>
      ok(await tenantsPage(db, principal.environment, { page: query.page ?? 0, limit: query.limit ?? 10 })),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/tenants',
    operationId: 'createTenant',
    summary: 'Create a tenant',
    scope: 'subscribers:write',
    body: Type.Object(
      { identifier, name: Type.Optional(name), data: Type.Optional(data) },
      { title: 'CreateTenant', examples: [{ identifier: 'acme', name: 'Acme Ltd', data: { plan: 'team' } }] },
    ),
    replies: { 201: tenant },
    errors: [409],
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      createTenant(db, world, principal.environment, { tenant: body, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/tenants/{identifier}',
    operationId: 'retrieveTenant',
    summary: 'Retrieve a tenant',
    scope: 'read',
    params,
    replies: { 200: tenant },
    errors: [404],
    handle: async ({ db }, { principal, params }) => {
      const found = await findTenant(db, principal.environment, params.identifier)
      if (found === undefined) throw unknownTenant(params.identifier)
      return ok(found)
    },
  }),
  route({
    ...shared,
    method: 'PATCH',
    path: '/v1/tenants/{identifier}',
    operationId: 'updateTenant',
    summary: 'Update a tenant',
    description: 'Omitted fields are unchanged; null clears a field.',
    scope: 'subscribers:write',
    params,
    body: Type.Object(
      { identifier: Type.Optional(identifier), name: Type.Optional(name), data: Type.Optional(data) },
      { title: 'UpdateTenant', examples: [{ name: 'Acme plc' }] },
    ),
    replies: { 200: tenant },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, params, body, idempotency }) =>
      changeTenant(db, world, principal.environment, {
        identifier: params.identifier,
        change: body,
        author,
        idempotency,
      }),
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v1/tenants/{identifier}',
    operationId: 'deleteTenant',
    summary: 'Delete a tenant',
    scope: 'subscribers:write',
    params,
    replies: { 204: null },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      removeTenant(db, world, principal.environment, { identifier: params.identifier, author, idempotency }),
  }),
]

// What the audit log must say of calls that change tenants, contexts, suppressions, keys and the environment.
import assert from 'node:assert/strict'
import type { Scenarios } from './audit-things.ts'
import { changed, context, gone, made, override, post, tenant, workflow } from './audit-things.ts'

export const tenantScenarios: Scenarios = {
  createTenant: {
    kind: 'tenant',
    action: 'create',
    call: () => ({ method: 'POST', path: '/v1/tenants', body: { identifier: 'acme', data: { plan: 'team' } } }),
    says: made({ identifier: 'acme', data: { plan: 'team' } }),
  },
  updateTenant: {
    kind: 'tenant',
    action: 'change',
    call: async (app) => ({
      method: 'PATCH',
      path: `/v1/tenants/${(await tenant(app)).identifier}`,
      body: { name: 'New', data: { plan: 'team' } },
    }),
    says: changed({ name: 'Old' }, { name: 'New', data: { plan: 'team' } }),
  },
  deleteTenant: {
    kind: 'tenant',
    action: 'delete',
    call: async (app) => ({ method: 'DELETE', path: `/v1/tenants/${(await tenant(app)).identifier}` }),
    says: gone({ name: 'Old' }),
  },
  createWorkflowOverride: {
    kind: 'workflow-override',
    action: 'create',
    call: async (app) => {
      const body = { workflowId: (await workflow(app))._id, tenantId: (await tenant(app)).identifier, active: false }
      return { method: 'POST', path: '/v1/workflow-overrides', body }
    },
    says: made({ active: false }),
  },
  updateWorkflowOverride: {
    kind: 'workflow-override',
    action: 'change',
    call: async (app) => ({
      method: 'PUT',
      path: `/v1/workflow-overrides/${(await override(app))._id}`,
      body: { active: true },
    }),
    says: changed({ active: false }, { active: true }),
  },
  deleteWorkflowOverride: {
    kind: 'workflow-override',
    action: 'delete',
    call: async (app) => ({ method: 'DELETE', path: `/v1/workflow-overrides/${(await override(app))._id}` }),
    says: gone({ active: false }),
  },
  updateTenantWorkflowOverride: {
    kind: 'workflow-override',
    action: 'change',
    call: async (app) => {
      const { workflowId, tenantId } = await override(app)
      const path = `/v1/workflow-overrides/workflows/${workflowId}/tenants/${tenantId}`
      return { method: 'PUT', path, body: { active: true } }
    },
    says: changed({ active: false }, { active: true }),
  },
  deleteTenantWorkflowOverride: {
    kind: 'workflow-override',
    action: 'delete',
    call: async (app) => {
      const { workflowId, tenantId } = await override(app)
      return { method: 'DELETE', path: `/v1/workflow-overrides/workflows/${workflowId}/tenants/${tenantId}` }
    },
    says: gone({ active: false }),
  },
  createContext: {
    kind: 'context',
    action: 'create',
    call: () => ({ method: 'POST', path: '/v2/contexts', body: { type: 'project', id: 'p1', data: { plan: 'new' } } }),
    says: made({ data: { plan: 'new' } }),
  },
  updateContext: {
    kind: 'context',
    action: 'change',
    call: async (app) => ({
      method: 'PATCH',
      path: `/v2/contexts/project/${(await context(app)).id}`,
      body: { data: { plan: 'new' } },
    }),
    says: changed({ data: { plan: 'old' } }, { data: { plan: 'new' } }),
  },
  deleteContext: {
    kind: 'context',
    action: 'delete',
    call: async (app) => ({ method: 'DELETE', path: `/v2/contexts/project/${(await context(app)).id}` }),
    says: gone({ data: { plan: 'old' } }),
  },
  addSuppression: {
    kind: 'suppression',
    action: 'create',
    call: () => ({ method: 'POST', path: '/v1/suppressions', body: { channel: 'email', address: 'ann@example.com' } }),
    says: made({ channel: 'email', reason: 'manual', source: 'caller' }),
  },
  addSuppressions: {
    kind: 'suppression',
    action: 'create',
    call: () => {
      const suppressions = ['bob@example.com', 'cy@example.com'].map((address) => ({ channel: 'email', address }))
      return { method: 'POST', path: '/v1/suppressions/bulk', body: { suppressions } }
    },
    says: made({ channel: 'email', reason: 'manual' }),
    entries: 2,
  },
  removeSuppression: {
    kind: 'suppression',
    action: 'delete',
    call: async (app) => {
      await post(app, '/v1/suppressions', { channel: 'email', address: 'dee@example.com', reason: 'bounced' })
      return { method: 'DELETE', path: '/v1/suppressions/email/dee@example.com' }
    },
    says: gone({ channel: 'email', reason: 'bounced' }),
  },
  createApiKey: {
    kind: 'api-key',
    action: 'create',
    call: () => ({ method: 'POST', path: '/v1/environments/api-keys', body: { name: 'Shop', scopes: ['trigger'] } }),
    says: made({ name: 'Shop', scopes: ['trigger'] }),
  },
  createEnvironment: {
    kind: 'environment',
    action: 'create',
    call: () => ({ method: 'POST', path: '/v1/environments', body: { name: 'Made by a test' } }),
    says: made({ name: 'Made by a test' }),
  },
  updateEnvironment: {
    kind: 'environment',
    action: 'change',
    call: async (app) => {
      const { _id } = (await app.call('GET', '/v1/environments/me')).body
      return { method: 'PUT', path: `/v1/environments/${_id}`, body: { color: '#0088ff' } }
    },
    says: changed({}, { color: '#0088ff' }),
  },
  createAuditStream: {
    kind: 'audit-stream',
    action: 'create',
    call: () => ({ method: 'POST', path: '/v1/audit/streams', body: { url: 'https://siem.example.com/in?token=t' } }),
    says: made({ host: 'siem.example.com' }),
  },
  deleteAuditStream: {
    kind: 'audit-stream',
    action: 'delete',
    call: async (app) => {
      const { _id } = await post(app, '/v1/audit/streams', { url: 'https://other.example.com/' })
      return { method: 'DELETE', path: `/v1/audit/streams/${_id}` }
    },
    says: gone({ host: 'other.example.com' }),
  },
  createWebhookEndpoint: {
    kind: 'webhook-endpoint',
    action: 'create',
    call: () => ({
      method: 'POST',
      path: '/v1/webhook-endpoints',
      body: { url: 'https://api.example.com/in?token=t' },
    }),
    says: made({ url: 'api.example.com', enabled: true }),
  },
  updateWebhookEndpoint: {
    kind: 'webhook-endpoint',
    action: 'change',
    call: async (app) => {
      const { _id } = await post(app, '/v1/webhook-endpoints', { url: 'https://api.example.com/' })
      return { method: 'PATCH', path: `/v1/webhook-endpoints/${_id}`, body: { enabled: false } }
    },
    says: changed({ enabled: true }, { enabled: false }),
  },
  rotateWebhookSecret: {
    kind: 'webhook-endpoint',
    action: 'rotate',
    call: async (app) => {
      const { _id } = await post(app, '/v1/webhook-endpoints', { url: 'https://api.example.com/' })
      return { method: 'POST', path: `/v1/webhook-endpoints/${_id}/rotate-secret`, body: {} }
    },
    says: ({ before, after }) =>
      assert.ok('secret' in before && 'secret' in after && !/whsec_/.test(JSON.stringify(after))),
  },
  deleteWebhookEndpoint: {
    kind: 'webhook-endpoint',
    action: 'delete',
    call: async (app) => {
      const { _id } = await post(app, '/v1/webhook-endpoints', { url: 'https://other.example.com/' })
      return { method: 'DELETE', path: `/v1/webhook-endpoints/${_id}` }
    },
    says: gone({ url: 'other.example.com' }),
  },
  updateApiKey: {
    kind: 'api-key',
    action: 'change',
    call: async (app) => {
      const { _id } = await post(app, '/v1/environments/api-keys', { name: 'Shop' })
      return { method: 'PATCH', path: `/v1/environments/api-keys/${_id}`, body: { ratePerSecond: 5 } }
    },
    says: changed({}, { ratePerSecond: 5 }),
  },
  rotateApiKey: {
    kind: 'api-key',
    action: 'rotate',
    entries: 2,
    call: async (app) => {
      const { _id } = await post(app, '/v1/environments/api-keys', { name: 'Shop' })
      return { method: 'POST', path: `/v1/environments/api-keys/${_id}/rotate`, body: {} }
    },
    says: ({ before, after }) => assert.ok(before === null ? 'replaces' in after : 'expiresAt' in after),
  },
  revokeApiKey: {
    kind: 'api-key',
    action: 'revoke',
    call: async (app) => {
      const { _id } = await post(app, '/v1/environments/api-keys', { name: 'Old shop' })
      return { method: 'DELETE', path: `/v1/environments/api-keys/${_id}` }
    },
    says: ({ before, after }) => {
      assert.deepEqual([before, Object.keys(after)], [{}, ['revokedAt']])
    },
  },
  changeOwnEnvironment: {
    kind: 'environment',
    action: 'change',
    call: () => ({ method: 'PATCH', path: '/v1/environments/me', body: { configurations: { capture: true } } }),
    says: changed({ configurations: { capture: false } }, { configurations: { capture: true } }),
  },
}

// What the audit log must say of calls that change workflows.
import { must } from './audit-scene.ts'
import type { Scenarios } from './audit-things.ts'
import { changed, gone, made, name, post, v2, workflow } from './audit-things.ts'
import { inApp } from './workflow-scene.ts'

const older = '/v1/notification-templates'

/** The same calls at their older address. */
const templateScenarios: Scenarios = {
  createNotificationTemplate: {
    kind: 'workflow',
    action: 'create',
    call: () => ({ method: 'POST', path: older, body: { name: 'Older here', steps: [inApp()] } }),
    says: made({ name: 'Older here', identifier: 'older-here' }),
  },
  replaceNotificationTemplate: {
    kind: 'workflow',
    action: 'change',
    call: async (app) => {
      const { _id, name, steps } = await workflow(app)
      const body = { name, description: 'Described', steps: [{ ...inApp(), _id: steps[0]._id }] }
      return { method: 'PUT', path: `${older}/${_id}`, body }
    },
    says: changed({ description: '' }, { description: 'Described' }),
  },
  updateNotificationTemplateStatus: {
    kind: 'workflow',
    action: 'change',
    call: async (app) => ({
      method: 'PUT',
      path: `${older}/${(await workflow(app))._id}/status`,
      body: { active: true },
    }),
    says: changed({ active: false }, { active: true }),
  },
  deleteNotificationTemplate: {
    kind: 'workflow',
    action: 'delete',
    call: async (app) => ({ method: 'DELETE', path: `${older}/${(await workflow(app, { tags: ['gone'] }))._id}` }),
    says: gone({ tags: ['gone'] }),
  },
}

export const workflowScenarios: Scenarios = {
  ...templateScenarios,
  createWorkflow: {
    kind: 'workflow',
    action: 'create',
    call: () => ({ method: 'POST', path: '/v1/workflows', body: { name: 'New here', steps: [inApp()], active: true } }),
    says: made({ name: 'New here', active: true, identifier: 'new-here' }),
  },
  replaceWorkflow: {
    kind: 'workflow',
    action: 'change',
    call: async (app) => {
      const { _id, name, steps } = await workflow(app)
      const [{ _id: stepId }] = steps
      const body = { name, description: 'Now described', steps: [{ ...inApp(), _id: stepId }] }
      return { method: 'PUT', path: `/v1/workflows/${_id}`, body }
    },
    says: changed({ description: '' }, { description: 'Now described' }),
  },
  updateWorkflow: {
    kind: 'workflow',
    action: 'change',
    call: async (app) => {
      const { _id } = await workflow(app, { tags: ['old'] })
      return { method: 'PATCH', path: `/v1/workflows/${_id}`, body: { tags: ['new'] } }
    },
    says: changed({ tags: ['old'] }, { tags: ['new'] }),
  },
  restoreWorkflowVersion: {
    kind: 'workflow',
    action: 'change',
    call: async (app) => {
      const { _id } = await workflow(app)
      await must(app, { method: 'PATCH', path: `/v1/workflows/${_id}`, body: { description: 'Later' } })
      return { method: 'POST', path: `/v1/workflows/${_id}/versions/1/restore` }
    },
    says: changed({ description: 'Later' }, { description: '' }),
  },
  updateWorkflowStatus: {
    kind: 'workflow',
    action: 'change',
    call: async (app) => ({
      method: 'PUT',
      path: `/v1/workflows/${(await workflow(app))._id}/status`,
      body: { active: true },
    }),
    says: changed({ active: false }, { active: true }),
  },
  deleteWorkflow: {
    kind: 'workflow',
    action: 'delete',
    call: async (app) => ({ method: 'DELETE', path: `/v1/workflows/${(await workflow(app, { tags: ['gone'] }))._id}` }),
    says: gone({ tags: ['gone'] }),
  },
  createWorkflowV2: {
    kind: 'workflow',
    action: 'create',
    call: () => ({ method: 'POST', path: '/v2/workflows', body: v2('second-face') }),
    says: made({ identifier: 'second-face', name: 'Old' }),
  },
  replaceWorkflowV2: {
    kind: 'workflow',
    action: 'change',
    call: async (app) => {
      const { _id, steps, workflowId } = await post(app, '/v2/workflows', v2(name()))
      const kept = [{ ...v2('').steps[0], _id: steps[0]._id }]
      return {
        method: 'PUT',
        path: `/v2/workflows/${_id}`,
        body: { ...v2(workflowId), name: 'New', steps: kept },
      }
    },
    says: changed({ name: 'Old' }, { name: 'New' }),
  },
  updateWorkflowV2: {
    kind: 'workflow',
    action: 'change',
    call: async (app) => {
      const { _id } = await post(app, '/v2/workflows', v2(name()))
      return { method: 'PATCH', path: `/v2/workflows/${_id}`, body: { tags: ['new'] } }
    },
    says: changed({ tags: [] }, { tags: ['new'] }),
  },
  deleteWorkflowV2: {
    kind: 'workflow',
    action: 'delete',
    call: async (app) => ({
      method: 'DELETE',
      path: `/v2/workflows/${(await post(app, '/v2/workflows', v2(name())))._id}`,
    }),
    says: gone({ name: 'Old' }),
  },
}

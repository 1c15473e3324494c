// What each call that changes texts of workflows and layouts, or variables, must write to the audit log.
import type { TestApp } from './app.ts'
import type { Scenarios } from './audit-things.ts'
import { changed, gone, made, post, workflow } from './audit-things.ts'

/** A workflow with texts of its own in a locale that has no others. */
async function translated(app: TestApp, locale: string): Promise<string> {
  const { _id: resourceId } = await workflow(app)
  await post(app, '/v2/translations', { resourceType: 'workflow', resourceId, locale, content: { a: 'x' } })
  return resourceId
}

export const translationScenarios: Scenarios = {
  putOwnTranslation: {
    kind: 'translation',
    action: 'create',
    call: async (app) => {
      const resourceId = (await workflow(app, { workflowId: 'spoken' }))._id
      const body = { resourceType: 'workflow', resourceId, locale: 'nl', content: { a: 'x' } }
      return { method: 'POST', path: '/v2/translations', body }
    },
    says: made({ texts: { workflows: { spoken: { a: 'x' } } } }),
  },
  importMasterTranslation: {
    kind: 'translation',
    action: 'change',
    call: async (app) => {
      await workflow(app, { workflowId: 'imported' })
      await post(app, '/v2/translations', {
        resourceType: 'workflow',
        resourceId: 'imported',
        locale: 'da',
        content: { a: 'x' },
      })
      const masterJson = { workflows: { imported: { a: 'y' } } }
      return { method: 'POST', path: '/v2/translations/master-json', body: { locale: 'da', masterJson } }
    },
    says: changed(
      { texts: { workflows: { imported: { a: 'x' } } } },
      { texts: { workflows: { imported: { a: 'y' } } } },
    ),
  },
  deleteOwnTranslation: {
    kind: 'translation',
    action: 'delete',
    call: async (app) => ({
      method: 'DELETE',
      path: `/v2/translations/workflow/${await translated(app, 'sv')}/sv`,
    }),
    says: gone({}),
  },
  createEnvironmentVariable: {
    kind: 'environment-variable',
    action: 'create',
    call: () => ({ method: 'POST', path: '/v1/environment-variables', body: { key: 'MADE', isSecret: true } }),
    says: made({ key: 'MADE', isSecret: true, value: '[hidden]' }),
  },
  updateEnvironmentVariable: {
    kind: 'environment-variable',
    action: 'change',
    call: async (app) => {
      await post(app, '/v1/environment-variables', { key: 'OLD' })
      return { method: 'PATCH', path: '/v1/environment-variables/OLD', body: { key: 'NEW' } }
    },
    says: changed({ key: 'OLD' }, { key: 'NEW' }),
  },
  deleteEnvironmentVariable: {
    kind: 'environment-variable',
    action: 'delete',
    call: async (app) => {
      await post(app, '/v1/environment-variables', { key: 'GONE' })
      return { method: 'DELETE', path: '/v1/environment-variables/GONE' }
    },
    says: gone({ key: 'GONE' }),
  },
  deleteOwnTranslationGroup: {
    kind: 'translation',
    action: 'delete',
    call: async (app) => ({ method: 'DELETE', path: `/v2/translations/workflow/${await translated(app, 'fi')}` }),
    says: gone({}),
  },
}

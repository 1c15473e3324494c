// What the audit log must say of calls that change what messages go by: groups, integrations, layouts, texts, feeds.
import assert from 'node:assert/strict'
import type { Call } from './audit-scene.ts'
import { must } from './audit-scene.ts'
import type { Scenarios } from './audit-things.ts'
import { changed, gone, group, integration, layout, made, post } from './audit-things.ts'
import { sendgridBody, twilioBody } from './integration-scene.ts'

export const sendingScenarios: Scenarios = {
  applyConfiguration: {
    kind: 'feed',
    action: 'create',
    call: () => ({
      method: 'POST',
      path: '/v1/configuration',
      body: { feeds: [{ name: 'Applied', identifier: 'applied' }] },
    }),
    says: made({ name: 'Applied', identifier: 'applied' }),
  },
  rotateSigningSecret: {
    kind: 'environment',
    action: 'change',
    call: () => ({ method: 'POST', path: '/v1/environments/me/signing-secrets' }),
    says: (entry) => assert.notDeepEqual(entry.before, entry.after),
  },
  createNotificationGroup: {
    kind: 'notification-group',
    action: 'create',
    call: () => ({ method: 'POST', path: '/v1/notification-groups', body: { name: 'Orders' } }),
    says: made({ name: 'Orders' }),
  },
  updateNotificationGroup: {
    kind: 'notification-group',
    action: 'change',
    call: async (app) => {
      const { _id } = await post(app, '/v1/notification-groups', { name: 'Before' })
      return { method: 'PATCH', path: `/v1/notification-groups/${_id}`, body: { name: 'After' } }
    },
    says: changed({ name: 'Before' }, { name: 'After' }),
  },
  deleteNotificationGroup: {
    kind: 'notification-group',
    action: 'delete',
    call: async (app) => ({ method: 'DELETE', path: `/v1/notification-groups/${(await group(app))._id}` }),
    says: gone({}),
  },
  createIntegration: {
    kind: 'integration',
    action: 'create',
    call: () => ({ method: 'POST', path: '/v1/integrations', body: { ...sendgridBody, name: 'Mail', active: true } }),
    says: (entry) => {
      made({ name: 'Mail', providerId: 'sendgrid', active: true, primary: true })(entry)
      assert.deepEqual(entry.after.credentials, { apiKey: '[redacted]', from: '[redacted]' })
      assert.equal(entry.after.channelPrimaryId, entry.resourceId)
    },
  },
  updateIntegration: {
    kind: 'integration',
    action: 'change',
    call: async (app) => {
      const { _id } = await integration(app)
      const credentials = { ...twilioBody.credentials, token: 'another-secret' }
      return { method: 'PUT', path: `/v1/integrations/${_id}`, body: { credentials } }
    },
    says: changed({ credentials: { token: '[redacted]' } }, { credentials: { token: '[redacted] (changed)' } }),
  },
  setPrimaryIntegration: {
    kind: 'integration',
    action: 'set-primary',
    call: async (app) => ({ method: 'POST', path: `/v1/integrations/${(await integration(app))._id}/set-primary` }),
    says: (entry) => {
      const { channelPrimaryId, ...was } = entry.before
      assert.deepEqual(was, { active: false, primary: false })
      assert.deepEqual(entry.after, { active: true, primary: true, channelPrimaryId: entry.resourceId })
      assert.ok(channelPrimaryId !== undefined && channelPrimaryId !== entry.resourceId)
    },
  },
  deleteIntegration: {
    kind: 'integration',
    action: 'delete',
    call: async (app) => ({ method: 'DELETE', path: `/v1/integrations/${(await integration(app))._id}` }),
    says: gone({ providerId: 'twilio', active: false }),
  },
  createLayout: {
    kind: 'layout',
    action: 'create',
    call: () => ({
      method: 'POST',
      path: '/v1/layouts',
      body: { name: 'Frame', identifier: 'frame', content: '<b>{{{ body }}}</b>' },
    }),
    says: made({ identifier: 'frame', content: '<b>{{{ body }}}</b>' }),
  },
  updateLayout: {
    kind: 'layout',
    action: 'change',
    call: async (app) => ({ method: 'PATCH', path: `/v1/layouts/${(await layout(app))._id}`, body: { name: 'New' } }),
    says: changed({ name: 'Old' }, { name: 'New' }),
  },
  makeLayoutDefault: {
    kind: 'layout',
    action: 'change',
    call: async (app) => ({ method: 'POST', path: `/v1/layouts/${(await layout(app))._id}/default` }),
    says: changed({ isDefault: false }, { isDefault: true }),
  },
  deleteLayout: {
    kind: 'layout',
    action: 'delete',
    call: async (app) => ({ method: 'DELETE', path: `/v1/layouts/${(await layout(app))._id}` }),
    says: gone({ name: 'Old' }),
  },
  createLayoutV2: {
    kind: 'layout',
    action: 'create',
    call: () => ({ method: 'POST', path: '/v2/layouts', body: { name: 'Second', layoutId: 'second' } }),
    says: made({ identifier: 'second', name: 'Second' }),
  },
  updateLayoutV2: {
    kind: 'layout',
    action: 'change',
    call: async (app) => ({ method: 'PUT', path: `/v2/layouts/${(await layout(app))._id}`, body: { name: 'New' } }),
    says: changed({ name: 'Old' }, { name: 'New' }),
  },
  duplicateLayoutV2: {
    kind: 'layout',
    action: 'create',
    call: async (app) => ({
      method: 'POST',
      path: `/v2/layouts/${(await layout(app))._id}/duplicate`,
      body: { name: 'The copy' },
    }),
    says: made({ name: 'The copy' }),
  },
  deleteLayoutV2: {
    kind: 'layout',
    action: 'delete',
    call: async (app) => ({ method: 'DELETE', path: `/v2/layouts/${(await layout(app))._id}` }),
    says: gone({ name: 'Old' }),
  },
  putTranslation: {
    kind: 'translation',
    action: 'change',
    call: async (app) => {
      const put = (texts: object): Call => ({ method: 'PUT', path: '/v1/translations/de', body: { texts } })
      await must(app, put({ greeting: { morning: 'Guten Morgen', evening: 'Guten Abend' } }))
      return put({ greeting: { morning: 'Moin', evening: 'Guten Abend' } })
    },
    says: changed({ texts: { greeting: { morning: 'Guten Morgen' } } }, { texts: { greeting: { morning: 'Moin' } } }),
  },
  deleteTranslation: {
    kind: 'translation',
    action: 'delete',
    call: async (app) => {
      await must(app, { method: 'PUT', path: '/v1/translations/fr', body: { texts: { hello: 'Bonjour' } } })
      return { method: 'DELETE', path: '/v1/translations/fr' }
    },
    says: gone({ texts: { hello: 'Bonjour' } }),
  },
  createFeed: {
    kind: 'feed',
    action: 'create',
    call: () => ({ method: 'POST', path: '/v1/feeds', body: { name: 'News', identifier: 'news' } }),
    says: made({ name: 'News', identifier: 'news' }),
  },
  deleteFeed: {
    kind: 'feed',
    action: 'delete',
    call: async (app) => ({
      method: 'DELETE',
      path: `/v1/feeds/${(await post(app, '/v1/feeds', { name: 'Gone' }))._id}`,
    }),
    says: gone({ name: 'Gone' }),
  },
}

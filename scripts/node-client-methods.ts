// The methods of the older public client @novu/node, as its last version calls them, and those that are not served.
import type { ClientMethod } from './client-methods.ts'

export const nodeClientVersion = '2.6.6'

/** The name of a method, and the request that it sends. */
const requests = `
environments.getCurrent GET /v1/environments/me
environments.create POST /v1/environments
environments.getAll GET /v1/environments
environments.updateOne PUT /v1/environments/{id}
environments.getApiKeys GET /v1/environments/api-keys
environments.regenerateApiKeys POST /v1/environments/api-keys/regenerate
events.trigger POST /v1/events/trigger
events.bulkTrigger POST /v1/events/trigger/bulk
events.broadcast POST /v1/events/trigger/broadcast
events.cancel DELETE /v1/events/trigger/{transactionId}
changes.get GET /v1/changes
changes.getCount GET /v1/changes/count
changes.applyOne POST /v1/changes/{changeId}/apply
changes.applyMany POST /v1/changes/bulk/apply
executionDetails.get GET /v1/execution-details
feeds.create POST /v1/feeds
feeds.get GET /v1/feeds
feeds.delete DELETE /v1/feeds/{feedId}
inboundParse.getMxStatus GET /v1/inbound-parse/mx/status
integrations.getAll GET /v1/integrations
integrations.getActive GET /v1/integrations/active
integrations.getInAppStatus GET /v1/integrations/in-app/status
integrations.getWebhookProviderStatus GET /v1/integrations/webhook/provider/{providerId}/status
integrations.create POST /v1/integrations
integrations.update PUT /v1/integrations/{integrationId}
integrations.setIntegrationAsPrimary POST /v1/integrations/{integrationId}/set-primary
integrations.delete DELETE /v1/integrations/{integrationId}
layouts.create POST /v1/layouts
layouts.list GET /v1/layouts
layouts.get GET /v1/layouts
layouts.delete DELETE /v1/layouts/{layoutId}
layouts.update PATCH /v1/layouts/{layoutId}
layouts.setDefault POST /v1/layouts/{layoutId}/default
messages.list GET /v1/messages
messages.deleteById DELETE /v1/messages/{messageId}
messages.deleteByTransactionId DELETE /v1/messages/transaction/{transactionId}
notificationGroups.create POST /v1/notification-groups
notificationGroups.get GET /v1/notification-groups
notificationGroups.getOne GET /v1/notification-groups/{id}
notificationGroups.update PATCH /v1/notification-groups/{id}
notificationGroups.delete DELETE /v1/notification-groups/{id}
notificationTemplates.getAll GET /v1/notification-templates
notificationTemplates.create POST /v1/notification-templates
notificationTemplates.update PUT /v1/notification-templates/{templateId}
notificationTemplates.delete DELETE /v1/notification-templates/{templateId}
notificationTemplates.getOne GET /v1/notification-templates/{templateId}
notificationTemplates.updateStatus PUT /v1/notification-templates/{templateId}/status
organizations.list GET /v1/organizations
organizations.create POST /v1/organizations
organizations.rename PATCH /v1/organizations
organizations.getCurrent GET /v1/organizations/me
organizations.removeMember DELETE /v1/organizations/members/{memberId}
organizations.updateMemberRole PUT /v1/organizations/members/{memberId}/roles
organizations.getMembers GET /v1/organizations/members
organizations.updateBranding PUT /v1/organizations/branding
subscribers.list GET /v1/subscribers
subscribers.get GET /v1/subscribers/{subscriberId}
subscribers.identify POST /v1/subscribers
subscribers.bulkCreate POST /v1/subscribers/bulk
subscribers.update PUT /v1/subscribers/{subscriberId}
subscribers.setCredentials PUT /v1/subscribers/{subscriberId}/credentials
subscribers.deleteCredentials DELETE /v1/subscribers/{subscriberId}/credentials/{providerId}
subscribers.unsetCredentials PUT /v1/subscribers/{subscriberId}/credentials
subscribers.updateOnlineStatus PATCH /v1/subscribers/{subscriberId}/online-status
subscribers.delete DELETE /v1/subscribers/{subscriberId}
subscribers.getPreference GET /v1/subscribers/{subscriberId}/preferences
subscribers.getGlobalPreference GET /v1/subscribers/{subscriberId}/preferences/global
subscribers.getPreferenceByLevel GET /v1/subscribers/{subscriberId}/preferences/{level}
subscribers.updatePreference PATCH /v1/subscribers/{subscriberId}/preferences/{templateId}
subscribers.updateGlobalPreference PATCH /v1/subscribers/{subscriberId}/preferences
subscribers.getNotificationsFeed GET /v1/subscribers/{subscriberId}/notifications/feed
subscribers.getUnseenCount GET /v1/subscribers/{subscriberId}/notifications/unseen
subscribers.markMessageSeen POST /v1/subscribers/{subscriberId}/messages/markAs
subscribers.markMessageRead POST /v1/subscribers/{subscriberId}/messages/markAs
subscribers.markMessageAs POST /v1/subscribers/{subscriberId}/messages/markAs
subscribers.markAllMessagesAs POST /v1/subscribers/{subscriberId}/messages/mark-all
subscribers.markMessageActionSeen POST /v1/subscribers/{subscriberId}/messages/{messageId}/actions/{type}
tenants.create POST /v1/tenants
tenants.update PATCH /v1/tenants/{identifier}
tenants.list GET /v1/tenants
tenants.delete DELETE /v1/tenants/{identifier}
tenants.get GET /v1/tenants/{identifier}
topics.create POST /v1/topics
topics.addSubscribers POST /v1/topics/{topicKey}/subscribers
topics.getSubscriber GET /v1/topics/{topicKey}/subscribers/{externalSubscriberId}
topics.checkSubscriber GET /v1/topics/{topicKey}/subscribers/{externalSubscriberId}
topics.removeSubscribers POST /v1/topics/{topicKey}/subscribers/removal
topics.list GET /v1/topics
topics.delete DELETE /v1/topics/{topicKey}
topics.get GET /v1/topics/{topicKey}
topics.rename PATCH /v1/topics/{topicKey}
workflowOverrides.updateOneById PUT /v1/workflow-overrides/{overrideId}
workflowOverrides.create POST /v1/workflow-overrides
workflowOverrides.getOneById GET /v1/workflow-overrides/{overrideId}
workflowOverrides.list GET /v1/workflow-overrides
workflowOverrides.getOneByTenantIdandWorkflowId GET /v1/workflow-overrides/workflows/{workflowId}/tenants/{tenantId}
workflowOverrides.updateOneByTenantIdandWorkflowId PUT /v1/workflow-overrides/workflows/{workflowId}/tenants/{tenantId}
workflowOverrides.delete DELETE /v1/workflow-overrides/{overrideId}`

export const nodeClientMethods: readonly ClientMethod[] = requests
  .trim()
  .split('\n')
  .map((line) => {
    const [name = '', verb = '', path = ''] = line.split(' ')
    return { name, verb, path }
  })

const excepted: readonly (readonly [prefix: string, reason: string])[] = [
  [
    'changes.',
    'Changes apply at once, with a version of each; `posthorn promote` takes workflows to another environment.',
  ],
  [
    'environments.regenerateApiKeys',
    'It would end every key at once. `POST /v1/environments/api-keys/{keyId}/rotate` replaces one, with an overlap.',
  ],
  [
    'inboundParse.',
    'Domains for inbound e-mail are a part of the hosted product; see `parse` in the guides of providers.',
  ],
  [
    'organizations.',
    'A key opens one environment. Users and roles are managed under `/v1/users`, by an owner who is signed in.',
  ],
]

/** Why a method is not served; undefined if it is. */
export const nodeExceptionOf = (name: string): string | undefined =>
  excepted.find(([prefix]) => name.startsWith(prefix))?.[1]

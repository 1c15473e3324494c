// Every route of the API, by name.
import type { InboxRoute } from './inbox-route.ts'
import { inboxStreamRoute } from './realtime/install-inbox-stream.ts'
import type { Documented, Route } from './route.ts'
import { activityRoutes } from './routes/activity/activity.ts'
import { activityStreamRoutes } from './routes/activity/activity-stream.ts'
import { countRoutes } from './routes/activity/counts.ts'
import { eventListRoutes } from './routes/activity/event-list.ts'
import { eventProgressRoutes } from './routes/activity/event-progress.ts'
import { executionDetailRoutes } from './routes/activity/execution-details.ts'
import { failureRoutes } from './routes/activity/failures.ts'
import { queueRoutes } from './routes/activity/queue.ts'
import { whyRoutes } from './routes/activity/why.ts'
import { eventRoutes } from './routes/events/events.ts'
import { simulateRoutes } from './routes/events/simulate.ts'
import { inboxBulkRoutes } from './routes/inbox/inbox-bulk.ts'
import { inboxEventRoutes } from './routes/inbox/inbox-events.ts'
import { inboxNotificationRoutes } from './routes/inbox/inbox-notifications.ts'
import { inboxPreferenceRoutes } from './routes/inbox/inbox-preferences.ts'
import { inboxSessionRoutes } from './routes/inbox/inbox-session.ts'
import { inboxSubscriptionRoutes } from './routes/inbox/inbox-subscriptions.ts'
import { subscriberSessionRoutes } from './routes/inbox/subscriber-sessions.ts'
import { widgetFeedRoutes } from './routes/inbox/widget-feed.ts'
import { widgetMessageRoutes } from './routes/inbox/widget-messages.ts'
import { widgetPreferenceRoutes } from './routes/inbox/widget-preferences.ts'
import { widgetSessionRoutes } from './routes/inbox/widget-session.ts'
import { integrationStatusRoutes } from './routes/integrations/integration-status.ts'
import { integrationRoutes } from './routes/integrations/integrations.ts'
import { providerRoutes } from './routes/integrations/providers.ts'
import { messageRoutes } from './routes/messages/messages.ts'
import { outboxRoutes } from './routes/messages/outbox.ts'
import { subscriberFeedRoutes } from './routes/messages/subscriber-feed.ts'
import { subscriberInboxRoutes } from './routes/messages/subscriber-inbox.ts'
import { subscriberNotificationRoutes } from './routes/messages/subscriber-notifications.ts'
import { apiKeyRoutes } from './routes/operate/api-keys.ts'
import { auditRoutes } from './routes/operate/audit.ts'
import { auditStreamRoutes } from './routes/operate/audit-streams.ts'
import { dashboardPasswordRoutes } from './routes/operate/dashboard-passwords.ts'
import { dashboardSessionRoutes } from './routes/operate/dashboard-sessions.ts'
import { environmentLifeRoutes } from './routes/operate/environment-life.ts'
import { environmentVariableRoutes } from './routes/operate/environment-variables.ts'
import { environmentRoutes } from './routes/operate/environments.ts'
import { retentionRoutes } from './routes/operate/retention.ts'
import { sendingHoldRoutes } from './routes/operate/sending-hold.ts'
import { userRoutes } from './routes/operate/users.ts'
import { contextRoutes } from './routes/people/contexts.ts'
import { erasureRoutes } from './routes/people/erasures.ts'
import { subscriberChannelRoutes } from './routes/people/subscriber-channels.ts'
import { subscriberExportRoutes } from './routes/people/subscriber-export.ts'
import { subscriberPreferenceRoutes } from './routes/people/subscriber-preferences.ts'
import { subscriberPreferenceV1Routes } from './routes/people/subscriber-preferences-v1.ts'
import { subscriberRoutes } from './routes/people/subscribers.ts'
import { subscriberV1Routes } from './routes/people/subscribers-v1.ts'
import { suppressionRoutes } from './routes/people/suppressions.ts'
import { tenantRoutes } from './routes/people/tenants.ts'
import { topicSubscriptionRoutes } from './routes/people/topic-subscriptions.ts'
import { topicRoutes } from './routes/people/topics.ts'
import { topicV1Routes } from './routes/people/topics-v1.ts'
import { buriedRoutes } from './routes/recovery/buried.ts'
import { recoveryRoutes } from './routes/recovery/recovery.ts'
import { redriveRoutes } from './routes/recovery/redrives.ts'
import { webhookDeliveryRoutes } from './routes/webhooks/webhook-deliveries.ts'
import { webhookEndpointRoutes } from './routes/webhooks/webhook-endpoints.ts'
import { configurationRoutes } from './routes/workflows/configuration.ts'
import { feedRoutes } from './routes/workflows/feeds.ts'
import { layoutRoutes } from './routes/workflows/layouts.ts'
import { layoutV2Routes } from './routes/workflows/layouts-v2.ts'
import { notificationGroupRoutes } from './routes/workflows/notification-groups.ts'
import { notificationTemplateRoutes } from './routes/workflows/notification-templates.ts'
import { translationRoutes } from './routes/workflows/translations.ts'
import { translationV2Routes } from './routes/workflows/translations-v2.ts'
import { workflowOverrideRoutes } from './routes/workflows/workflow-overrides.ts'
import { workflowTestRoutes } from './routes/workflows/workflow-test.ts'
import { workflowVersionRoutes } from './routes/workflows/workflow-versions.ts'
import { workflowRoutes } from './routes/workflows/workflows.ts'
import { workflowV2Routes } from './routes/workflows/workflows-v2.ts'

/** In the order of the reference: what people need first comes first. */
export const routes: readonly Route[] = [
  ...eventRoutes,
  ...eventListRoutes,
  ...eventProgressRoutes,
  ...simulateRoutes,
  ...workflowRoutes,
  ...workflowVersionRoutes,
  ...workflowV2Routes,
  ...workflowTestRoutes,
  ...configurationRoutes,
  ...notificationGroupRoutes,
  ...subscriberRoutes,
  ...subscriberChannelRoutes,
  ...subscriberPreferenceRoutes,
  ...subscriberPreferenceV1Routes,
  ...subscriberExportRoutes,
  ...subscriberSessionRoutes,
  ...erasureRoutes,
  ...topicRoutes,
  ...topicSubscriptionRoutes,
  ...subscriberFeedRoutes,
  ...subscriberInboxRoutes,
  ...subscriberNotificationRoutes,
  ...feedRoutes,
  ...messageRoutes,
  ...activityRoutes,
  ...activityStreamRoutes,
  ...whyRoutes,
  ...integrationRoutes,
  ...providerRoutes,
  ...layoutRoutes,
  ...layoutV2Routes,
  ...translationRoutes,
  ...translationV2Routes,
  ...outboxRoutes,
  ...recoveryRoutes,
  ...redriveRoutes,
  ...buriedRoutes,
  ...countRoutes,
  ...queueRoutes,
  ...failureRoutes,
  ...webhookEndpointRoutes,
  ...webhookDeliveryRoutes,
  ...suppressionRoutes,
  ...tenantRoutes,
  ...workflowOverrideRoutes,
  ...contextRoutes,
  ...environmentRoutes,
  ...environmentLifeRoutes,
  ...environmentVariableRoutes,
  ...apiKeyRoutes,
  ...userRoutes,
  ...retentionRoutes,
  ...sendingHoldRoutes,
  ...auditRoutes,
  ...auditStreamRoutes,
  ...subscriberV1Routes,
  ...topicV1Routes,
  ...notificationTemplateRoutes,
  ...integrationStatusRoutes,
  ...executionDetailRoutes,
]

/** Those that a subscriber's session opens, and the one that opens it. */
export const inboxRoutes: readonly InboxRoute[] = [
  ...inboxSessionRoutes,
  ...inboxNotificationRoutes,
  ...inboxBulkRoutes,
  ...inboxPreferenceRoutes,
  ...inboxSubscriptionRoutes,
  ...inboxEventRoutes,
  ...widgetSessionRoutes,
  ...widgetFeedRoutes,
  ...widgetMessageRoutes,
  ...widgetPreferenceRoutes,
]

export const documentedRoutes: readonly Documented[] = [
  ...routes,
  ...inboxRoutes,
  inboxStreamRoute,
  ...dashboardSessionRoutes,
  ...dashboardPasswordRoutes,
]

// Every route of the API, by name.
import type { InboxRoute } from './inbox-route.ts'
import type { Documented, Route } from './route.ts'
import { activityRoutes } from './routes/activity.ts'
import { auditRoutes } from './routes/audit.ts'
import { buriedRoutes } from './routes/buried.ts'
import { contextRoutes } from './routes/contexts.ts'
import { countRoutes } from './routes/counts.ts'
import { environmentRoutes } from './routes/environments.ts'
import { erasureRoutes } from './routes/erasures.ts'
import { eventProgressRoutes } from './routes/event-progress.ts'
import { eventRoutes } from './routes/events.ts'
import { feedRoutes } from './routes/feeds.ts'
import { inboxBulkRoutes } from './routes/inbox-bulk.ts'
import { inboxNotificationRoutes } from './routes/inbox-notifications.ts'
import { inboxPreferenceRoutes } from './routes/inbox-preferences.ts'
import { inboxSessionRoutes } from './routes/inbox-session.ts'
import { inboxSubscriptionRoutes } from './routes/inbox-subscriptions.ts'
import { integrationRoutes } from './routes/integrations.ts'
import { layoutRoutes } from './routes/layouts.ts'
import { layoutV2Routes } from './routes/layouts-v2.ts'
import { mendRoutes } from './routes/recovery.ts'
import { messageRoutes } from './routes/messages.ts'
import { notificationGroupRoutes } from './routes/notification-groups.ts'
import { outboxRoutes } from './routes/outbox.ts'
import { providerRoutes } from './routes/providers.ts'
import { redriveRoutes } from './routes/redrives.ts'
import { retentionRoutes } from './routes/retention.ts'
import { simulateRoutes } from './routes/simulate.ts'
import { subscriberChannelRoutes } from './routes/subscriber-channels.ts'
import { subscriberExportRoutes } from './routes/subscriber-export.ts'
import { subscriberFeedRoutes } from './routes/subscriber-feed.ts'
import { subscriberNotificationRoutes } from './routes/subscriber-notifications.ts'
import { subscriberPreferenceRoutes } from './routes/subscriber-preferences.ts'
import { subscriberPreferenceV1Routes } from './routes/subscriber-preferences-v1.ts'
import { subscriberSessionRoutes } from './routes/subscriber-sessions.ts'
import { subscriberRoutes } from './routes/subscribers.ts'
import { suppressionRoutes } from './routes/suppressions.ts'
import { tenantRoutes } from './routes/tenants.ts'
import { topicSubscriptionRoutes } from './routes/topic-subscriptions.ts'
import { topicRoutes } from './routes/topics.ts'
import { translationRoutes } from './routes/translations.ts'
import { whyRoutes } from './routes/why.ts'
import { workflowOverrideRoutes } from './routes/workflow-overrides.ts'
import { workflowTestRoutes } from './routes/workflow-test.ts'
import { workflowRoutes } from './routes/workflows.ts'
import { workflowV2Routes } from './routes/workflows-v2.ts'

/** In the order of the reference: what people need first comes first. */
export const routes: readonly Route[] = [
  ...eventRoutes,
  ...eventProgressRoutes,
  ...simulateRoutes,
  ...workflowRoutes,
  ...workflowV2Routes,
  ...workflowTestRoutes,
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
  ...subscriberNotificationRoutes,
  ...feedRoutes,
  ...messageRoutes,
  ...activityRoutes,
  ...whyRoutes,
  ...integrationRoutes,
  ...providerRoutes,
  ...layoutRoutes,
  ...layoutV2Routes,
  ...translationRoutes,
  ...outboxRoutes,
  ...mendRoutes,
  ...redriveRoutes,
  ...buriedRoutes,
  ...countRoutes,
  ...suppressionRoutes,
  ...tenantRoutes,
  ...workflowOverrideRoutes,
  ...contextRoutes,
  ...environmentRoutes,
  ...retentionRoutes,
  ...auditRoutes,
]

/** Those that a subscriber's session opens, and the one that opens it. */
export const inboxRoutes: readonly InboxRoute[] = [
  ...inboxSessionRoutes,
  ...inboxNotificationRoutes,
  ...inboxBulkRoutes,
  ...inboxPreferenceRoutes,
  ...inboxSubscriptionRoutes,
]

export const documentedRoutes: readonly Documented[] = [...routes, ...inboxRoutes]

// Every route of the API, by name.
import type { Route } from './route.ts'
import { activityRoutes } from './routes/activity.ts'
import { contextRoutes } from './routes/contexts.ts'
import { environmentRoutes } from './routes/environments.ts'
import { eventProgressRoutes } from './routes/event-progress.ts'
import { eventRoutes } from './routes/events.ts'
import { feedRoutes } from './routes/feeds.ts'
import { integrationRoutes } from './routes/integrations.ts'
import { layoutRoutes } from './routes/layouts.ts'
import { layoutV2Routes } from './routes/layouts-v2.ts'
import { messageRoutes } from './routes/messages.ts'
import { notificationGroupRoutes } from './routes/notification-groups.ts'
import { providerRoutes } from './routes/providers.ts'
import { subscriberChannelRoutes } from './routes/subscriber-channels.ts'
import { subscriberFeedRoutes } from './routes/subscriber-feed.ts'
import { subscriberNotificationRoutes } from './routes/subscriber-notifications.ts'
import { subscriberPreferenceRoutes } from './routes/subscriber-preferences.ts'
import { subscriberPreferenceV1Routes } from './routes/subscriber-preferences-v1.ts'
import { subscriberRoutes } from './routes/subscribers.ts'
import { suppressionRoutes } from './routes/suppressions.ts'
import { tenantRoutes } from './routes/tenants.ts'
import { topicSubscriptionRoutes } from './routes/topic-subscriptions.ts'
import { topicRoutes } from './routes/topics.ts'
import { translationRoutes } from './routes/translations.ts'
import { whyRoutes } from './routes/why.ts'
import { workflowOverrideRoutes } from './routes/workflow-overrides.ts'
import { workflowRoutes } from './routes/workflows.ts'
import { workflowV2Routes } from './routes/workflows-v2.ts'

export const routes: readonly Route[] = [
  ...activityRoutes,
  ...contextRoutes,
  ...environmentRoutes,
  ...eventProgressRoutes,
  ...eventRoutes,
  ...feedRoutes,
  ...integrationRoutes,
  ...layoutRoutes,
  ...layoutV2Routes,
  ...messageRoutes,
  ...notificationGroupRoutes,
  ...providerRoutes,
  ...subscriberRoutes,
  ...subscriberChannelRoutes,
  ...subscriberFeedRoutes,
  ...subscriberNotificationRoutes,
  ...subscriberPreferenceRoutes,
  ...subscriberPreferenceV1Routes,
  ...suppressionRoutes,
  ...tenantRoutes,
  ...topicRoutes,
  ...topicSubscriptionRoutes,
  ...translationRoutes,
  ...whyRoutes,
  ...workflowOverrideRoutes,
  ...workflowRoutes,
  ...workflowV2Routes,
]

// Every route of the API, by name.
import type { Route } from './route.ts'
import { activityRoutes } from './routes/activity.ts'
import { environmentRoutes } from './routes/environments.ts'
import { eventProgressRoutes } from './routes/event-progress.ts'
import { eventRoutes } from './routes/events.ts'
import { integrationRoutes } from './routes/integrations.ts'
import { messageRoutes } from './routes/messages.ts'
import { providerRoutes } from './routes/providers.ts'
import { subscriberChannelRoutes } from './routes/subscriber-channels.ts'
import { subscriberFeedRoutes } from './routes/subscriber-feed.ts'
import { subscriberNotificationRoutes } from './routes/subscriber-notifications.ts'
import { subscriberRoutes } from './routes/subscribers.ts'
import { tenantRoutes } from './routes/tenants.ts'
import { topicSubscriptionRoutes } from './routes/topic-subscriptions.ts'
import { topicRoutes } from './routes/topics.ts'
import { workflowRoutes } from './routes/workflows.ts'

export const routes: readonly Route[] = [
  ...activityRoutes,
  ...environmentRoutes,
  ...eventProgressRoutes,
  ...eventRoutes,
  ...integrationRoutes,
  ...messageRoutes,
  ...providerRoutes,
  ...subscriberRoutes,
  ...subscriberChannelRoutes,
  ...subscriberFeedRoutes,
  ...subscriberNotificationRoutes,
  ...tenantRoutes,
  ...topicRoutes,
  ...topicSubscriptionRoutes,
  ...workflowRoutes,
]

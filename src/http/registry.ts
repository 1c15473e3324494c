// Every route of the API, by name.
import type { Route } from './route.ts'
import { environmentRoutes } from './routes/environments.ts'
import { integrationRoutes } from './routes/integrations.ts'
import { providerRoutes } from './routes/providers.ts'
import { subscriberChannelRoutes } from './routes/subscriber-channels.ts'
import { subscriberRoutes } from './routes/subscribers.ts'
import { tenantRoutes } from './routes/tenants.ts'
import { topicSubscriptionRoutes } from './routes/topic-subscriptions.ts'
import { topicRoutes } from './routes/topics.ts'

export const routes: readonly Route[] = [
  ...environmentRoutes,
  ...integrationRoutes,
  ...providerRoutes,
  ...subscriberRoutes,
  ...subscriberChannelRoutes,
  ...tenantRoutes,
  ...topicRoutes,
  ...topicSubscriptionRoutes,
]

// The addresses of the dashboard. Each page is loaded when it is first opened.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import { basePath } from './api.ts'
import { EnvironmentFrame } from './shell/environment-frame.tsx'
import { FirstPage } from './shell/first-page.tsx'
import { NotFound } from './shell/not-found.tsx'
import { PageFault } from './shell/page-fault.tsx'
import { PagePending } from './shell/page-pending.tsx'
import { SignInPage } from './shell/sign-in.tsx'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound })
const environment = createRoute({ getParentRoute: () => root, path: '/$environment', component: EnvironmentFrame })

// biome-ignore lint/suspicious/noExplicitAny: a page module exports components by name
type Module = () => Promise<any>
const page = (path: string, load: Module, name: string) =>
  createRoute({
    getParentRoute: () => environment,
    path,
    component: lazyRouteComponent(load, name),
    errorComponent: PageFault,
  })

/** A list with a detail beside it: one page, which stays as it is while one walks from detail to detail. */
const pageWithDetail = (path: string, detail: string, load: Module, name: string) => {
  const list = page(path, load, name)
  return list.addChildren([
    createRoute({ getParentRoute: () => list, path: '/' }),
    createRoute({ getParentRoute: () => list, path: detail }),
  ])
}

const workflows = () => import('./pages/workflows/workflows-page.tsx')
const subscribers = () => import('./pages/subscribers/subscribers-page.tsx')
const contexts = () => import('./pages/contexts/contexts-page.tsx')
const endpoint = () => import('./pages/webhooks/endpoint-page.tsx')
const settings = () => import('./pages/settings/settings-page.tsx')

/** The shared parts in all their states, for whoever works on them; nothing of it is in what is built. */
const development = import.meta.env.DEV
  ? [
      createRoute({
        getParentRoute: () => root,
        path: '/dev/ui',
        component: lazyRouteComponent(() => import('./dev/ui-page.tsx'), 'UiPage'),
      }),
    ]
  : []

const tree = root.addChildren([
  ...development,
  createRoute({ getParentRoute: () => root, path: '/', component: FirstPage }),
  createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignInPage }),
  createRoute({
    getParentRoute: () => root,
    path: '/sign-in/password',
    component: lazyRouteComponent(() => import('./shell/set-password.tsx'), 'SetPasswordPage'),
  }),
  environment.addChildren([
    page('/', () => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
    page('/start', () => import('./pages/start/start-page.tsx'), 'StartPage'),
    pageWithDetail('/activity', '$notificationId', () => import('./pages/activity/activity-page.tsx'), 'ActivityPage'),
    pageWithDetail(
      '/activity/messages',
      '$notificationId',
      () => import('./pages/activity/messages-page.tsx'),
      'MessagesPage',
    ),
    page('/activity/failures', () => import('./pages/activity/failures-page.tsx'), 'FailuresPage'),
    page('/activity/events', () => import('./pages/activity/events-page.tsx'), 'EventsPage'),
    page('/activity/queue', () => import('./pages/activity/queue-page.tsx'), 'QueuePage'),
    page('/workflows', workflows, 'WorkflowsPage'),
    page('/workflows/$workflowId', () => import('./pages/workflows/editor-page.tsx'), 'EditorPage'),
    page('/workflows/$workflowId/versions', () => import('./pages/workflows/versions-page.tsx'), 'VersionsPage'),
    page('/subscribers', subscribers, 'SubscribersPage'),
    page('/subscribers/$subscriberId', () => import('./pages/subscribers/subscriber-page.tsx'), 'SubscriberPage'),
    page('/topics', () => import('./pages/topics/topics-page.tsx'), 'TopicsPage'),
    page('/topics/$topicKey', () => import('./pages/topics/topic-page.tsx'), 'TopicPage'),
    page('/tenants', () => import('./pages/tenants/tenants-page.tsx'), 'TenantsPage'),
    page('/tenants/$identifier', () => import('./pages/tenants/tenant-page.tsx'), 'TenantPage'),
    page('/contexts', contexts, 'ContextsPage'),
    page('/contexts/$type/$id', contexts, 'ContextPage'),
    page('/integrations', () => import('./pages/integrations/integrations-page.tsx'), 'IntegrationsPage'),
    page(
      '/integrations/new/$providerId',
      () => import('./pages/integrations/integration-page.tsx'),
      'NewIntegrationPage',
    ),
    page('/integrations/$integrationId', () => import('./pages/integrations/integration-page.tsx'), 'IntegrationPage'),
    pageWithDetail('/outbox', '$messageId', () => import('./pages/outbox/outbox-page.tsx'), 'OutboxPage'),
    page('/webhooks', () => import('./pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
    pageWithDetail('/webhooks/$endpointId', '$deliveryId', endpoint, 'EndpointPage'),
    page('/layouts', () => import('./pages/layouts/layouts-page.tsx'), 'LayoutsPage'),
    page('/layouts/$layoutId', () => import('./pages/layouts/layout-page.tsx'), 'LayoutPage'),
    page('/translations', () => import('./pages/translations/translations-page.tsx'), 'TranslationsPage'),
    page('/settings', settings, 'KeysPage'),
    page('/settings/users', settings, 'UsersPage'),
    page('/settings/environments', settings, 'EnvironmentsPage'),
    page('/settings/signing', settings, 'SigningPage'),
    page('/settings/retention', settings, 'RetentionPage'),
    page('/settings/audit', settings, 'AuditPage'),
    page('/settings/suppressions', settings, 'SuppressionsPage'),
    page('/settings/health', settings, 'HealthPage'),
  ]),
])

/** Values stand in addresses as they are: no quotes, no JSON. */
const search = {
  parseSearch: (text: string) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (values: Record<string, unknown>) => {
    const text = new URLSearchParams(
      Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
    ).toString()
    return text === '' ? '' : `?${text}`
  },
}

export const createDashboardRouter = () =>
  createRouter({
    routeTree: tree,
    basepath: basePath,
    defaultPreload: 'intent',
    // The shape of a page whose code is still on its way.
    defaultPendingComponent: PagePending,
    defaultPendingMs: 100,
    defaultPendingMinMs: 0,
    scrollRestoration: true,
    defaultNotFoundComponent: NotFound,
    ...search,
  })

// Workflows at their older address: /v1/notification-templates.
import { olderSpelling } from '../../older-spelling.ts'
import { workflowRoutes } from './workflows.ts'

const path = '/v1/notification-templates'
const one = `${path}/{workflowId}`

export const notificationTemplateRoutes = [
  olderSpelling(workflowRoutes, 'createWorkflow', { path, operationId: 'createNotificationTemplate' }),
  olderSpelling(workflowRoutes, 'listWorkflows', { path, operationId: 'listNotificationTemplates' }),
  olderSpelling(workflowRoutes, 'retrieveWorkflow', { path: one, operationId: 'retrieveNotificationTemplate' }),
  olderSpelling(workflowRoutes, 'replaceWorkflow', { path: one, operationId: 'replaceNotificationTemplate' }),
  olderSpelling(workflowRoutes, 'deleteWorkflow', { path: one, operationId: 'deleteNotificationTemplate' }),
  olderSpelling(workflowRoutes, 'updateWorkflowStatus', {
    path: `${one}/status`,
    operationId: 'updateNotificationTemplateStatus',
  }),
]

// Settings: the frame that its pages share.
export { AuditPage } from './audit-page.tsx'
export { HealthPage } from './health-page.tsx'
export { KeysPage } from './keys-page.tsx'
export { SuppressionsPage } from './suppressions-page.tsx'
export { UsersPage } from './users-page.tsx'

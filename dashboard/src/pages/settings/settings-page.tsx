// Settings: the frame that its pages share.
export { AuditPage } from './audit-page.tsx'
export { EnvironmentsPage } from './environments-page.tsx'
export { HealthPage } from './health-page.tsx'
export { KeysPage } from './keys-page.tsx'
export { RetentionPage } from './retention-page.tsx'
export { SigningPage } from './signing-page.tsx'
export { SuppressionsPage } from './suppressions-page.tsx'
export { UsersPage } from './users-page.tsx'

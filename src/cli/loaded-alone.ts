// Commands that are loaded without the others: together they and what they need take a second, longer than most take for their work.
import type { Command } from './command.ts'

/** By name. */
export const loadedAlone: Readonly<Record<string, () => Promise<Command>>> = {
  audit: async () => (await import('./audit.ts')).auditCommand,
  backup: async () => (await import('./local/backup.ts')).backupCommand,
  dashboard: async () => (await import('./local/dashboard.ts')).dashboardCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  environments: async () => (await import('./environments.ts')).environmentsCommand,
  export: async () => (await import('./export.ts')).exportCommand,
  import: async () => (await import('./import.ts')).importCommand,
  keys: async () => (await import('./local/keys.ts')).keysCommand,
  login: async () => (await import('./login.ts')).loginCommand,
  logout: async () => (await import('./login.ts')).logoutCommand,
  migrate: async () => (await import('./local/migrate.ts')).migrateCommand,
  move: async () => (await import('./local/move.ts')).moveCommand,
  organizations: async () => (await import('./local/organizations.ts')).organizationsCommand,
  outbox: async () => (await import('./outbox.ts')).outboxCommand,
  promote: async () => (await import('./promote.ts')).promoteCommand,
  redrive: async () => (await import('./redrive.ts')).redriveCommand,
  release: async () => (await import('./local/release.ts')).releaseCommand,
  reseal: async () => (await import('./local/reseal.ts')).resealCommand,
  restore: async () => (await import('./local/backup.ts')).restoreCommand,
  retention: async () => (await import('./local/retention.ts')).retentionCommand,
  signing: async () => (await import('./signing.ts')).signingCommand,
  simulate: async () => (await import('./simulate.ts')).simulateCommand,
  start: async () => (await import('./local/start.ts')).startCommand,
  subscribers: async () => (await import('./subscribers.ts')).subscribersCommand,
  tail: async () => (await import('./tail.ts')).tailCommand,
  users: async () => (await import('./access/users.ts')).usersCommand,
  why: async () => (await import('./why.ts')).whyCommand,
  workflows: async () => (await import('./workflows.ts')).workflowsCommand,
}

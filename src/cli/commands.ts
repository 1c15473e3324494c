// All commands, in the order in which the help lists them.
import { usersCommand } from './access/users.ts'
import { auditCommand } from './audit.ts'
import type { Command } from './command.ts'
import { completionFor } from './completion.ts'
import { doctorCommand } from './doctor.ts'
import { environmentsCommand } from './environments.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'
import { backupCommand, restoreCommand } from './local/backup.ts'
import { dashboardCommand } from './local/dashboard.ts'
import { keysCommand } from './local/keys.ts'
import { migrateCommand } from './local/migrate.ts'
import { moveCommand } from './local/move.ts'
import { organizationsCommand } from './local/organizations.ts'
import { releaseCommand } from './local/release.ts'
import { resealCommand } from './local/reseal.ts'
import { retentionCommand } from './local/retention.ts'
import { startCommand } from './local/start.ts'
import { loginCommand, logoutCommand } from './login.ts'
import { outboxCommand } from './outbox.ts'
import { promoteCommand } from './promote.ts'
import { redriveCommand } from './redrive.ts'
import { signingCommand } from './signing.ts'
import { simulateCommand } from './simulate.ts'
import { subscribersCommand } from './subscribers.ts'
import { tailCommand } from './tail.ts'
import { whyCommand } from './why.ts'
import { workflowsCommand } from './workflows.ts'

export const commands: readonly Command[] = [
  startCommand,
  migrateCommand,
  dashboardCommand,
  environmentsCommand,
  organizationsCommand,
  usersCommand,
  keysCommand,
  signingCommand,
  auditCommand,
  workflowsCommand,
  promoteCommand,
  resealCommand,
  retentionCommand,
  backupCommand,
  restoreCommand,
  releaseCommand,
  moveCommand,
  doctorCommand,
  tailCommand,
  whyCommand,
  simulateCommand,
  outboxCommand,
  redriveCommand,
  subscribersCommand,
  exportCommand,
  importCommand,
  loginCommand,
  logoutCommand,
  completionFor(() => commands),
]

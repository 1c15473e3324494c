// Errors that the operator can act on: they are shown as a sentence, without a stack.
import { ConfigError } from '../config.ts'
import { UnusableDatabase } from '../db/await-database.ts'
import { BackupError } from '../db/backup/archive.ts'
import { MoveError } from '../db/backup/move-rows.ts'
import { EmbeddedPostgresError } from '../db/embedded/embedded-error.ts'
import { MigrationError } from '../db/migrate.ts'
import { DatabaseUnavailable } from '../db/sql.ts'
import { Problem } from '../domain/problem.ts'
import { StopError } from '../main/stop-error.ts'
import { StartError } from '../manage/operate/first-start.ts'
import { KeyFileError } from '../world/key-file.ts'
import { CommandFailed, UsageError } from './command.ts'

const kinds = [
  BackupError,
  CommandFailed,
  ConfigError,
  DatabaseUnavailable,
  EmbeddedPostgresError,
  KeyFileError,
  MigrationError,
  MoveError,
  Problem,
  StartError,
  StopError,
  UnusableDatabase,
  UsageError,
]

export const isOperatorError = (error: unknown): error is Error => kinds.some((kind) => error instanceof kind)

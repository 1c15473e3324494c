// Where commands find a running service, and what they remember of it.
import { text, webAddress } from './values.ts'

export interface CommandConfig {
  readonly serviceUrl: string | undefined
  readonly profileFile: string | undefined
}

export const commandSettings = {
  serviceUrl: {
    variable: 'POSTHORN_URL',
    meaning:
      'The URL of the running service for commands such as `posthorn tail`; they authenticate with POSTHORN_API_KEY. `--url` takes precedence.',
    shownDefault: '`http://localhost:` and PORT',
    defaultValue: undefined,
    read: webAddress,
  },
  profileFile: {
    variable: 'POSTHORN_PROFILES',
    meaning: 'The file in which `posthorn login` keeps URLs and API keys for commands.',
    shownDefault: '`~/.config/posthorn/profiles.json`',
    defaultValue: undefined,
    read: text,
  },
} as const

// Who a command is for the audit log: the user of the operating system, on this machine.
import { hostname, userInfo } from 'node:os'
import type { Author } from '../../domain/operate/audit.ts'

export function commandAuthor(): Author {
  return { keyId: 'cli', keyName: userName(), address: hostname(), requestId: null }
}

/** In a container the user need not have a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

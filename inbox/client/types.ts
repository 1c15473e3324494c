// What the inbox API answers, as far as pages read it.

export type Severity = 'high' | 'medium' | 'low' | 'none'
export type Channel = 'email' | 'sms' | 'in_app' | 'chat' | 'push'

export interface Redirect {
  readonly url: string
  readonly target?: string
}

export interface Action {
  readonly label: string
  readonly isCompleted: boolean
  readonly redirect?: Redirect
}

export interface InboxNotification {
  readonly id: string
  readonly transactionId: string
  readonly subject?: string
  readonly body: string
  readonly avatar?: string
  readonly isRead: boolean
  readonly isSeen: boolean
  readonly isArchived: boolean
  readonly isSnoozed: boolean
  readonly snoozedUntil?: string | null
  readonly createdAt: string
  readonly readAt?: string | null
  readonly archivedAt?: string | null
  readonly primaryAction?: Action
  readonly secondaryAction?: Action
  readonly redirect?: Redirect
  readonly tags?: readonly string[]
  readonly severity: Severity
  readonly data?: Readonly<Record<string, unknown>>
  readonly workflow?: WorkflowName
}

export interface WorkflowName {
  readonly id: string
  readonly identifier: string
  readonly name: string
  readonly critical: boolean
  readonly tags?: readonly string[]
}

/** All conditions must hold. */
export interface Filter {
  readonly read?: boolean
  readonly seen?: boolean
  readonly archived?: boolean
  readonly snoozed?: boolean
  /** Any of them. */
  readonly tags?: readonly string[]
  readonly severity?: Severity | readonly Severity[]
  readonly data?: Readonly<Record<string, unknown>>
}

export interface Page {
  readonly data: readonly InboxNotification[]
  readonly hasMore: boolean
}

/** Numbers stop at 100. */
export interface UnreadCount {
  readonly total: number
  readonly severity: Readonly<Record<Severity, number>>
}

export interface Session {
  readonly token: string
  readonly unreadCount: UnreadCount
  readonly isDevelopmentMode: boolean
  readonly maxSnoozeDurationHours: number
  readonly contextKeys: readonly string[]
}

export interface Preference {
  readonly level: 'global' | 'template'
  readonly enabled: boolean
  readonly channels: Readonly<Partial<Record<Channel, boolean>>>
  /** Not on the global one. */
  readonly workflow?: WorkflowName
}

/** An answer that is not a success. */
export class InboxError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.name = 'InboxError'
    this.status = status
  }
}

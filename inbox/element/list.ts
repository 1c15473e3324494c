// The notifications that one tab shows: pages from the service, changed by the stream as it goes.
import type { Filter, Inbox, InboxNotification } from '../client/index.ts'

export type Tab = 'all' | 'unread' | 'archived' | 'snoozed'

export const tabs: readonly Tab[] = ['all', 'unread', 'archived', 'snoozed']

const filters: Readonly<Record<Tab, Filter>> = {
  all: { archived: false, snoozed: false },
  unread: { read: false, archived: false, snoozed: false },
  archived: { archived: true },
  snoozed: { snoozed: true },
}

const limit = 20

export class List {
  readonly #inbox: Inbox
  readonly #onChange: () => void
  tab: Tab = 'all'
  items: readonly InboxNotification[] = []
  hasMore = false
  /** Until the first page has come. */
  isLoading = false
  hasFailed = false
  #load = 0

  constructor(inbox: Inbox, onChange: () => void) {
    this.#inbox = inbox
    this.#onChange = onChange
  }

  show(tab: Tab): Promise<void> {
    this.tab = tab
    this.items = []
    this.hasMore = false
    return this.reload()
  }

  /** The first page again. What is shown stays until it has come. */
  async reload(): Promise<void> {
    await this.#page(undefined)
  }

  async more(): Promise<void> {
    await this.#page(this.items.at(-1)?.id)
  }

  /** In its place where it is shown, on top where it is new, gone where it no longer belongs here. */
  put(notification: InboxNotification, isNew: boolean): void {
    const belongs = this.#belongs(notification)
    const others = this.items.filter(({ id }) => id !== notification.id)
    const isShown = others.length < this.items.length
    const last = this.items.at(-1)
    if (!belongs) this.items = others
    else if (isNew) this.items = [notification, ...others]
    else if (isShown) this.items = this.items.map((one) => (one.id === notification.id ? notification : one))
    // One of a later page comes with that page.
    else if (!this.hasMore || last === undefined || notification.createdAt > last.createdAt) {
      this.items = sorted([notification, ...others])
    }
    this.#onChange()
  }

  drop(id: string): void {
    this.items = this.items.filter((one) => one.id !== id)
    this.#onChange()
  }

  #belongs({ isRead, isArchived, isSnoozed, id }: InboxNotification): boolean {
    if (this.tab === 'archived') return isArchived
    if (this.tab === 'snoozed') return isSnoozed
    if (isArchived || isSnoozed) return false
    // One that was read here stays until the tab is opened again, so that the list does not jump.
    return this.tab === 'all' || !isRead || this.items.some((one) => one.id === id)
  }

  async #page(after: string | undefined): Promise<void> {
    this.#load += 1
    const load = this.#load
    this.isLoading = true
    this.hasFailed = false
    this.#onChange()
    try {
      const page = await this.#inbox.list({ ...filters[this.tab], limit, ...(after === undefined ? {} : { after }) })
      // Another tab was opened meanwhile.
      if (load !== this.#load) return
      const known = new Set(after === undefined ? [] : this.items.map(({ id }) => id))
      const added = page.data.filter(({ id }) => !known.has(id))
      this.items = after === undefined ? added : [...this.items, ...added]
      this.hasMore = page.hasMore
    } catch {
      if (load === this.#load) this.hasFailed = true
    }
    if (load !== this.#load) return
    this.isLoading = false
    this.#onChange()
  }
}

const sorted = (items: readonly InboxNotification[]): InboxNotification[] =>
  [...items].sort((a, b) => b.createdAt.localeCompare(a.createdAt))

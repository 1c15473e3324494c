// <posthorn-inbox>: a bell with a number, and the inbox behind it. One script and one element are all that a page needs.
import type { Inbox, InboxNotification, InboxStream, Mark } from '../client/index.ts'
import { openInbox } from '../client/index.ts'
import { h, icon, iconButton, setChildren } from './dom.ts'
import { follow, itemElement } from './item.ts'
import type { Tab } from './list.ts'
import { List, tabs } from './list.ts'
import { preferenceElements } from './preferences.ts'
import { styleText } from './style.ts'
import type { Texts } from './texts.ts'
import { directionOf, textsFor } from './texts.ts'

/** Where this script came from is where the service is, perhaps below a path, unless the page says otherwise. */
const scriptPlace = (() => {
  const source = (document.currentScript as HTMLScriptElement | null)?.src
  return source ? new URL('.', source).href : location.origin
})()

const hourMs = 3_600_000
const seenAfterMs = 1_000
const countMax = 99

const sheet = new CSSStyleSheet()
sheet.replaceSync(styleText)

/** Attributes that name whose inbox it is; a change opens another one. */
const identity = ['url', 'application', 'subscriber', 'subscriber-hash', 'context', 'context-hash']

export class PosthornInbox extends HTMLElement {
  static readonly observedAttributes = [...identity, 'locale']
  /** The client of the inbox that is shown, for pages that want to do more. */
  inbox: Inbox | undefined
  #list: List | undefined
  #stream: InboxStream | undefined
  #texts: Texts = textsFor('en')
  #locale = 'en'
  #maxSnoozeHours = 0
  #unread = 0
  #isOpen = false
  #settings: readonly HTMLElement[] | undefined
  #seenTimer: ReturnType<typeof setTimeout> | undefined
  readonly #asSeen = new Set<string>()
  readonly #rendered = new Map<string, { text: string; element: HTMLElement }>()
  readonly #badge = h('span', { class: 'badge', part: 'badge', 'aria-hidden': 'true' })
  readonly #bell = h('button', { type: 'button', class: 'bell', part: 'bell', 'aria-haspopup': 'dialog' })
  readonly #panel = h('div', { class: 'panel', part: 'panel', role: 'dialog', hidden: true, tabindex: '-1' })
  readonly #status = h('div', { class: 'sr', role: 'status', 'aria-live': 'polite' })
  readonly #items = h('ul', { role: 'list' })
  readonly #body = h('div', { class: 'body' })

  constructor() {
    super()
    const root = this.attachShadow({ mode: 'open' })
    root.adoptedStyleSheets = [sheet]
    this.#bell.append(icon('bell'), this.#badge)
    this.#bell.addEventListener('click', () => this.toggle())
    this.#panel.addEventListener('keydown', (event) => this.#onKey(event as KeyboardEvent))
    root.append(this.#bell, this.#panel, this.#status)
  }

  connectedCallback(): void {
    document.addEventListener('pointerdown', this.#onOutside)
    this.#start()
  }

  disconnectedCallback(): void {
    document.removeEventListener('pointerdown', this.#onOutside)
    this.#stop()
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (!this.isConnected || before === after) return
    if (name === 'locale') this.#localize()
    else queueMicrotask(() => this.isConnected && this.#start())
  }

  /** Opens the panel, or closes it. */
  toggle(isOpen = !this.#isOpen): void {
    if (isOpen === this.#isOpen) return
    this.#isOpen = isOpen
    this.#settings = undefined
    this.#render()
    if (isOpen) {
      // Towards the wider side, whatever the direction of the page or of the language.
      const { left, right } = this.#bell.getBoundingClientRect()
      this.#panel.classList.toggle('left', (left + right) / 2 < innerWidth / 2)
      this.#panel.focus()
      void this.#list?.reload()
    } else {
      clearTimeout(this.#seenTimer)
      this.#bell.focus()
    }
  }

  #start(): void {
    this.#stop()
    const options = this.#options()
    this.inbox = openInbox(options)
    this.#list = new List(this.inbox, () => this.#render())
    this.#localize()
    this.#stream = this.inbox.stream({
      onReceived: (notification) => this.#onReceived(notification),
      onUpdated: (notification) => this.#list?.put(notification, false),
      onDeleted: (id) => this.#list?.drop(id),
      onUnread: ({ total }) => this.#setUnread(total),
      onReady: (isResumed) => {
        if (!isResumed && this.#isOpen) void this.#list?.reload()
      },
      onEnd: (error) => this.#emit('error', error),
    })
    const opened = this.inbox
    opened.session().then(
      ({ unreadCount, maxSnoozeDurationHours }) => {
        if (opened !== this.inbox) return
        this.#maxSnoozeHours = maxSnoozeDurationHours
        this.#setUnread(unreadCount.total)
      },
      (error: Error) => this.#emit('error', error),
    )
  }

  #stop(): void {
    this.#stream?.close()
    clearTimeout(this.#seenTimer)
    this.#rendered.clear()
    this.#asSeen.clear()
    this.inbox = undefined
    this.#setUnread(0)
  }

  #options() {
    const text = (name: string): string | undefined => this.getAttribute(name) || undefined
    const context = text('context')
    const named = {
      application: text('application'),
      subscriber: text('subscriber'),
      subscriberHash: text('subscriber-hash'),
      context: context === undefined ? undefined : JSON.parse(context),
      contextHash: text('context-hash'),
    }
    const given = Object.entries(named).filter(([, value]) => value !== undefined)
    return { url: text('url') ?? scriptPlace, ...Object.fromEntries(given) }
  }

  #localize(): void {
    this.#locale = this.getAttribute('locale') || document.documentElement.lang || navigator.language || 'en'
    this.#texts = textsFor(this.#locale)
    for (const part of [this.#bell, this.#panel]) part.dir = directionOf(this.#locale)
    this.#panel.setAttribute('aria-label', this.#texts.title)
    this.#rendered.clear()
    this.#settings = undefined
    this.#setUnread(this.#unread)
    this.#render()
  }

  #setUnread(count: number): void {
    this.#unread = count
    const number = new Intl.NumberFormat(this.#locale)
    const shown = count > countMax ? `${number.format(countMax)}+` : number.format(count)
    this.#badge.textContent = count === 0 ? '' : shown
    const { title, unread } = this.#texts
    this.#bell.setAttribute('aria-label', count === 0 ? title : `${title}, ${shown} ${unread}`)
  }

  #onReceived(notification: InboxNotification): void {
    this.#list?.put(notification, true)
    this.#status.textContent = `${this.#texts.received}: ${notification.subject ?? notification.body}`
    this.#emit('notification', notification)
  }

  /** False where the page has taken care of it. */
  #emit(name: 'notification' | 'open' | 'action' | 'error', detail: unknown): boolean {
    return this.dispatchEvent(
      new CustomEvent(`posthorn:${name}`, { detail, bubbles: true, composed: true, cancelable: true }),
    )
  }

  readonly #onOutside = (event: Event): void => {
    if (this.#isOpen && !event.composedPath().includes(this)) this.toggle(false)
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key === 'Escape') {
      event.stopPropagation()
      this.toggle(false)
      return
    }
    const mains = [...this.#items.querySelectorAll<HTMLElement>('.main')]
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      Home: -mains.length,
      End: mains.length,
    }
    const step = steps[event.key]
    const active = this.shadowRoot?.activeElement
    if (step === undefined || mains.length === 0 || active?.tagName === 'SELECT') return
    event.preventDefault()
    const at = mains.findIndex((main) => main.parentElement?.contains(active ?? null))
    mains[Math.max(0, Math.min(mains.length - 1, at + step))]?.focus()
  }

  #render(): void {
    this.#bell.setAttribute('aria-expanded', String(this.#isOpen))
    this.#panel.hidden = !this.#isOpen
    if (!this.#isOpen) return
    setChildren(this.#panel, this.#settings === undefined ? this.#listView() : this.#settingsView(this.#settings))
    if (this.#settings === undefined) this.#scheduleSeen()
  }

  #listView(): HTMLElement[] {
    const list = this.#list
    const { title, markAllRead, settings } = this.#texts
    const head = this.#cached('head', () =>
      h(
        'header',
        {},
        h('h2', {}, title),
        iconButton('checks', markAllRead, () => void this.#do(() => this.inbox?.markAll('read'))),
        iconButton('sliders', settings, () => void this.#openSettings()),
      ),
    )
    const tabBar = this.#cached('tabs', () => h('div', { class: 'tabs', role: 'group', 'aria-label': title }))
    setChildren(
      tabBar,
      tabs.map((tab) => this.#tabButton(tab)),
    )
    setChildren(
      this.#items,
      (list?.items ?? []).map((one) => this.#item(one)),
    )
    setChildren(this.#body, [this.#items, ...this.#notes()])
    this.#body.setAttribute('aria-busy', String(list?.isLoading ?? false))
    return [head, tabBar, this.#body]
  }

  #tabButton(tab: Tab): HTMLElement {
    const button = this.#cached(`tab-${tab}`, () =>
      h('button', { type: 'button', click: () => void this.#list?.show(tab) }, this.#tabName(tab)),
    )
    button.setAttribute('aria-pressed', String(this.#list?.tab === tab))
    return button
  }

  #tabName(tab: Tab): string {
    const name = this.#texts[tab]
    return name.charAt(0).toLocaleUpperCase(this.#locale) + name.slice(1)
  }

  #notes(): HTMLElement[] {
    const list = this.#list
    const { empty, more, failed, retry } = this.#texts
    const again = (label: string, click: () => void): HTMLElement =>
      h('button', { type: 'button', class: 'more', click }, label)
    if (list?.hasFailed) {
      return [h('p', { class: 'note', role: 'alert' }, failed), again(retry, () => void list.reload())]
    }
    if (list?.hasMore) return [this.#cached('more', () => again(more, () => void this.#list?.more()))]
    const isEmpty = list !== undefined && list.items.length === 0 && !list.isLoading
    return isEmpty ? [this.#cached('empty', () => h('p', { class: 'note' }, empty))] : []
  }

  /** Made again only where something of it changed, so that the focus stays where it is. */
  #item(notification: InboxNotification): HTMLElement {
    return this.#cached(
      notification.id,
      () => {
        const hadFocus = this.#rendered.get(notification.id)?.element.contains(this.shadowRoot?.activeElement ?? null)
        const element = itemElement(notification, this.#itemContext())
        if (hadFocus) queueMicrotask(() => element.querySelector<HTMLElement>('.main')?.focus())
        return element
      },
      // With the minute, so that times do not grow old.
      JSON.stringify([{ ...notification, isSeen: undefined, firstSeenAt: undefined }, Math.floor(Date.now() / 60_000)]),
    )
  }

  #cached(key: string, make: () => HTMLElement, text = ''): HTMLElement {
    const known = this.#rendered.get(key)
    if (known !== undefined && known.text === text) return known.element
    const element = make()
    this.#rendered.set(key, { text, element })
    return element
  }

  #itemContext() {
    return {
      texts: this.#texts,
      locale: this.#locale,
      nowMs: Date.now(),
      maxSnoozeHours: this.#maxSnoozeHours,
      onOpen: (one: InboxNotification) => void this.#open(one),
      onMark: (one: InboxNotification, mark: Mark) => void this.#do(() => this.inbox?.mark(one.id, mark)),
      onSnooze: (one: InboxNotification, hours: number) =>
        void this.#do(() => this.inbox?.snooze(one.id, new Date(Date.now() + hours * hourMs))),
      onAction: (one: InboxNotification, which: 'primary' | 'secondary') => void this.#act(one, which),
      onRemove: (one: InboxNotification) => void this.#remove(one),
    }
  }

  async #open(notification: InboxNotification): Promise<void> {
    const goes = this.#emit('open', notification)
    if (!notification.isRead) await this.#do(() => this.inbox?.mark(notification.id, 'read'))
    if (goes) follow(notification.redirect)
  }

  async #act(notification: InboxNotification, which: 'primary' | 'secondary'): Promise<void> {
    const goes = this.#emit('action', { notification, which })
    await this.#do(() => this.inbox?.complete(notification.id, which))
    if (goes) follow((which === 'primary' ? notification.primaryAction : notification.secondaryAction)?.redirect)
  }

  async #remove({ id }: InboxNotification): Promise<void> {
    await this.#do(async () => {
      await this.inbox?.remove(id)
      this.#list?.drop(id)
    })
  }

  /** The answer shows at once; what else changed comes by the stream. */
  async #do(work: () => Promise<unknown> | undefined): Promise<void> {
    try {
      const answer = await work()
      if (answer !== undefined) this.#list?.put(answer as InboxNotification, false)
    } catch (error) {
      this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    this.#status.textContent = this.#texts.failed
    this.#emit('error', error)
  }

  async #openSettings(): Promise<void> {
    const { inbox } = this
    if (inbox === undefined) return
    try {
      const preferences = await inbox.preferences()
      this.#settings = preferenceElements(preferences, this.#texts, inbox, () => this.#failed(new Error('Not saved')))
      this.#render()
      this.#panel.querySelector<HTMLElement>('header button')?.focus()
    } catch (error) {
      this.#failed(error)
    }
  }

  #settingsView(groups: readonly HTMLElement[]): HTMLElement[] {
    const { settings, back } = this.#texts
    const close = (): void => {
      this.#settings = undefined
      this.#render()
      this.#panel.focus()
    }
    const body = this.#cached('settings', () => h('div', { class: 'body' }))
    setChildren(body, groups)
    return [
      this.#cached('settings-head', () => h('header', {}, iconButton('back', back, close), h('h2', {}, settings))),
      body,
    ]
  }

  #scheduleSeen(): void {
    clearTimeout(this.#seenTimer)
    const ids = (this.#list?.items ?? []).filter(({ id, isSeen }) => !isSeen && !this.#asSeen.has(id))
    if (ids.length === 0) return
    this.#seenTimer = setTimeout(() => {
      for (const { id } of ids) this.#asSeen.add(id)
      void this.inbox?.seen(ids.map(({ id }) => id)).catch(() => {})
    }, seenAfterMs)
  }
}

if (!customElements.get('posthorn-inbox')) customElements.define('posthorn-inbox', PosthornInbox)

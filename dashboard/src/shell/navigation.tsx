// The navigation: the environment at its top, pages by what one comes for, the account at its foot.
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { addressOf } from '../addresses.ts'
import { basePath } from '../api.ts'
import type { Environment, EnvironmentInfo } from '../session.tsx'
import { colourOf, roleWords, sessionsKey, signOut, useSessions } from '../session.tsx'
import type { Theme } from '../theme.ts'
import { chooseTheme, chosenTheme } from '../theme.ts'
import type { IconName } from '../ui/icons.tsx'
import { Icon, Logo } from '../ui/icons.tsx'
import { forgetAllEdits } from '../ui/kept.ts'
import { Menu } from '../ui/menu.tsx'
import { sayError } from '../ui/toast.tsx'
import { ChangePassword } from './change-password.tsx'

export interface Place {
  readonly to: string
  readonly text: string
  readonly icon: IconName
  readonly words?: string
}

export const places: readonly { readonly title?: string; readonly places: readonly Place[] }[] = [
  {
    places: [
      { to: '/start', text: 'Start', icon: 'start', words: 'first notification try snippets' },
      { to: '', text: 'Overview', icon: 'overview', words: 'counts charts attention' },
      { to: '/activity', text: 'Activity', icon: 'activity', words: 'notifications messages why log' },
    ],
  },
  {
    title: 'Content',
    places: [
      { to: '/workflows', text: 'Workflows', icon: 'workflow', words: 'editor steps templates' },
      { to: '/layouts', text: 'Layouts', icon: 'layout', words: 'e-mail frame' },
      { to: '/translations', text: 'Translations', icon: 'language', words: 'locales texts' },
    ],
  },
  {
    title: 'People',
    places: [
      { to: '/subscribers', text: 'Subscribers', icon: 'people', words: 'persons users' },
      { to: '/topics', text: 'Topics', icon: 'topic', words: 'groups audiences' },
      { to: '/tenants', text: 'Tenants', icon: 'tenant', words: 'customers overrides' },
      { to: '/contexts', text: 'Contexts', icon: 'context', words: 'workspaces objects data' },
    ],
  },
  {
    title: 'Channels',
    places: [
      { to: '/integrations', text: 'Integrations', icon: 'plug', words: 'providers accounts' },
      { to: '/outbox', text: 'Outbox', icon: 'outbox', words: 'captured mail' },
      { to: '/webhooks', text: 'Webhooks', icon: 'webhook', words: 'endpoints deliveries events signing' },
    ],
  },
  {
    places: [
      {
        to: '/settings',
        text: 'Settings',
        icon: 'settings',
        words: 'api keys users environments signing audit retention suppressions health',
      },
    ],
  },
]

const dots = { red: 'bg-red', blue: 'bg-blue', violet: 'bg-violet' }

export function Navigation({
  environment,
  environments,
  isSlim = false,
  onSearch,
  onSlim,
}: {
  environment: Environment
  environments: readonly EnvironmentInfo[]
  /** Icons alone; their words are said, and shown under the pointer. */
  isSlim?: boolean
  onSearch: () => void
  /** Where it can be made slim. */
  onSlim?: (isSlim: boolean) => void
}) {
  const words = isSlim ? 'sr-only' : ''
  return (
    <div className={`flex h-full flex-col gap-3 overflow-x-hidden overflow-y-auto ${isSlim ? 'px-2 py-3' : 'p-3'}`}>
      <EnvironmentSwitch environment={environment} environments={environments} isSlim={isSlim} />
      <button
        type="button"
        onClick={onSearch}
        title={isSlim ? 'Search (Ctrl K)' : undefined}
        className={`flex h-8 shrink-0 items-center gap-2 rounded-md border border-line bg-bg px-2 text-ink-2 hover:border-line-2 ${isSlim ? 'justify-center' : ''}`}
      >
        <Icon name="search" size={14} />
        <span className={isSlim ? 'sr-only' : 'flex-1 text-left'}>Search</span>
        {!isSlim && <kbd className="rounded border border-line px-1 font-mono text-[11px] text-ink-3">Ctrl K</kbd>}
      </button>
      <nav aria-label="Pages" className="flex flex-1 flex-col gap-4">
        {places.map(({ title, places: group }) => (
          <div key={group[0]?.to} className="flex flex-col gap-px">
            {title !== undefined && !isSlim && <p className="px-2 pb-1 text-xs font-medium text-ink-3">{title}</p>}
            {group.map(({ to, text, icon }) => (
              <Link
                key={to}
                to={`/${environment.slug}${to}`}
                activeOptions={{ exact: to === '', includeSearch: false }}
                title={isSlim ? text : undefined}
                className="flex h-8 shrink-0 items-center gap-2.5 rounded-md px-2 text-ink-2 hover:bg-bg-3 hover:text-ink data-[status=active]:bg-bg-3 data-[status=active]:font-medium data-[status=active]:text-ink"
              >
                <Icon name={icon} />
                <span className={words}>{text}</span>
              </Link>
            ))}
          </div>
        ))}
      </nav>
      {onSlim !== undefined && (
        <button
          type="button"
          aria-pressed={isSlim}
          title={isSlim ? 'Show the words' : undefined}
          onClick={() => onSlim(!isSlim)}
          className="flex h-8 shrink-0 items-center gap-2.5 rounded-md px-2 text-ink-3 hover:bg-bg-3 hover:text-ink"
        >
          <Icon name={isSlim ? 'right' : 'left'} size={14} />
          <span className={words}>Slim navigation</span>
        </button>
      )}
      <Account environment={environment} isSlim={isSlim} />
    </div>
  )
}

function EnvironmentSwitch({
  environment,
  environments,
  isSlim,
}: {
  environment: Environment
  environments: readonly EnvironmentInfo[]
  isSlim: boolean
}) {
  const navigate = useNavigate()
  const sessions = useSessions()
  const items = environments.map(({ _id, name }) => {
    const to = `/${addressOf({ _id, name }, sessions.data ?? [])}`
    const isOpen = sessions.data?.some((one) => one.environment._id === _id) === true
    return {
      text: name,
      icon: (_id === environment.id ? 'check' : isOpen ? 'right' : 'key') as IconName,
      ...(isOpen ? {} : { hint: 'Sign in with an API key' }),
      onSelect: () => void navigate(isOpen ? { to } : { to: '/sign-in', search: { environment: name, to } }),
    }
  })
  return (
    <Menu
      label="Environments"
      items={items}
      button={
        <button
          type="button"
          title={isSlim ? environment.name : undefined}
          className="flex h-11 shrink-0 items-center gap-2.5 rounded-md px-2 text-left hover:bg-bg-3"
        >
          <Logo size={22} />
          <span className={isSlim ? 'sr-only' : 'min-w-0 flex-1'}>
            <span className="block text-xs text-ink-3">Posthorn</span>
            <span className="flex items-center gap-1.5 font-semibold">
              <span className="truncate">{environment.name}</span>
              <span className={`size-2 shrink-0 rounded-full ${dots[colourOf(environment.name)]}`} />
              <span className="sr-only">environment, switch</span>
            </span>
          </span>
          {!isSlim && <Icon name="down" size={12} />}
        </button>
      }
    />
  )
}

const themes: readonly (readonly [Theme, string, IconName])[] = [
  ['system', 'Theme of the system', 'layout'],
  ['light', 'Light', 'sun'],
  ['dark', 'Dark', 'moon'],
]

function Account({ environment, isSlim }: { environment: Environment; isSlim: boolean }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [theme, setTheme] = useState(chosenTheme)
  const [changing, setChanging] = useState(false)
  const { user, keyName, scopes } = environment.session
  const what = scopes.includes('full') ? 'Full access' : `Scope: ${scopes.join(', ')}`
  // The page first: what it asks for by itself would be refused.
  const leave = async () => {
    await navigate({ to: '/sign-in' })
    await signOut()
    forgetAllEdits()
    queries.clear()
    await queries.invalidateQueries({ queryKey: sessionsKey })
  }
  return (
    <>
      <Menu
        label="Account"
        items={[
          ...(user === undefined ? [] : [{ text: user.name, hint: user.email, disabled: true, onSelect: () => {} }]),
          ...themes.map(([value, text, icon]) => ({
            text,
            icon: value === theme ? ('check' as const) : icon,
            onSelect: () => {
              chooseTheme(value)
              setTheme(value)
            },
          })),
          'line',
          ...(user?.hasPassword === true
            ? [{ text: 'Change password', icon: 'key' as const, onSelect: () => setChanging(true) }]
            : []),
          { text: 'API reference', icon: 'code', onSelect: () => window.open(`${basePath}docs`, '_blank', 'noopener') },
          { text: 'Sign out', icon: 'out', onSelect: () => void leave().catch(sayError) },
        ]}
        button={
          <button
            type="button"
            title={isSlim ? (user?.name ?? keyName) : undefined}
            className="flex shrink-0 items-center gap-2.5 rounded-md px-2 py-1.5 text-left hover:bg-bg-3"
          >
            <Icon name={user === undefined ? 'key' : 'people'} />
            <span className={isSlim ? 'sr-only' : 'min-w-0 flex-1'}>
              <span className="block truncate text-sm">{user?.name ?? keyName}</span>
              <span className="block text-xs text-ink-3">{user === undefined ? what : roleWords[user.role]}</span>
            </span>
            <span className="sr-only">Account and theme</span>
            {!isSlim && <Icon name="more" size={14} />}
          </button>
        }
      />
      {changing && user !== undefined && <ChangePassword email={user.email} onClose={() => setChanging(false)} />}
    </>
  )
}

// The frame of every page of an environment: its colour over the whole width, navigation, search, account.
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useLocation, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { addressOf, sessionsAt } from '../addresses.ts'
import { answerOf, callWithSessionOf, client } from '../api.ts'
import type { Environment, Session } from '../session.tsx'
import { colourOf, EnvironmentContext, useSessions } from '../session.tsx'
import { IconButton } from '../ui/controls.tsx'
import { Icon, Logo } from '../ui/icons.tsx'
import { kept, stored } from '../ui/kept.ts'
import { Failed, useTitle } from '../ui/page.tsx'
import { dropUndos } from '../ui/toast.tsx'
import { CommandPalette } from './command-palette.tsx'
import { Navigation } from './navigation.tsx'
import { PagePending } from './page-pending.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { SignInFrame } from './sign-in.tsx'

const lines = { red: 'bg-red', blue: 'bg-blue', violet: 'bg-violet' }

export function EnvironmentFrame() {
  const { environment: address = '' } = useParams({ strict: false }) as { environment?: string }
  const sessions = useSessions()
  const shown = useRef({ address: '', id: '' })
  if (sessions.data === undefined) {
    return sessions.error === null ? (
      <div className="lg:pl-[224px]">
        <PagePending />
      </div>
    ) : (
      <Failed error={sessions.error} retry={() => void sessions.refetch()} />
    )
  }
  const [first, ...others] = sessionsAt(address, sessions.data)
  if (first === undefined) return <ToSignIn />
  // A page that is open stays, also after another environment took the same name.
  const stays = (one: Session) => shown.current.address === address && shown.current.id === one.environment._id
  const session = others.length === 0 ? first : [first, ...others].find(stays)
  if (session === undefined) return <WhichEnvironment among={[first, ...others]} />
  const { _id: id, name } = session.environment
  const slug = addressOf(session.environment, sessions.data)
  shown.current = { address, id }
  callWithSessionOf(id)
  return (
    <EnvironmentContext value={{ id, name, slug, session }}>
      <Frame key={id} environment={{ id, name, slug, session }} />
    </EnvironmentContext>
  )
}

/** An address from before two environments had the same name: which one it meant is for the reader to say. */
function WhichEnvironment({ among }: { among: readonly Session[] }) {
  useTitle('Which environment?')
  const { pathname, search } = useLocation()
  const page = pathname.replace(/^\/[^/]*/, '')
  return (
    <SignInFrame>
      <div className="card flex flex-col gap-4 p-6">
        <h1 className="text-lg font-semibold tracking-tight">Which environment?</h1>
        <p className="text-ink-2">Several have this name in their address.</p>
        <ul className="flex flex-col gap-2">
          {among.map(({ environment }) => (
            <li key={environment._id}>
              <Link to={`/${addressOf(environment, among)}${page}`} search={search} className="link font-medium">
                {environment.name}
              </Link>
              <span className="block font-mono text-xs text-ink-3">{addressOf(environment, among)}</span>
            </li>
          ))}
        </ul>
      </div>
    </SignInFrame>
  )
}

/** Once, from where one was: while the move is on its way, the address is another already. */
function ToSignIn() {
  const navigate = useNavigate()
  const { pathname, searchStr } = useLocation()
  const [to] = useState(`${pathname}${searchStr}`)
  useEffect(() => {
    void navigate({ to: '/sign-in', search: { to }, replace: true })
  }, [navigate, to])
  return null
}

function Frame({ environment }: { environment: Environment }) {
  const [menu, setMenu] = useState(false)
  const [palette, setPalette] = useState(false)
  const [isSlim, setSlim] = useState(() => kept<boolean>('slim-navigation') === true)
  const { pathname } = useLocation()
  const environments = useQuery({
    queryKey: [environment.id, 'environments'],
    queryFn: () => answerOf(client.GET('/v1/environments')),
    staleTime: 300_000,
  })
  useEffect(() => dropUndos, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu of a narrow screen closes with every move
  useEffect(() => setMenu(false), [pathname])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        setPalette((open) => !open)
      }
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  const navigation = (
    <Navigation environment={environment} environments={environments.data ?? []} onSearch={() => setPalette(true)} />
  )
  return (
    <div className="min-h-screen">
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-bg focus:p-2">
        Skip to the content
      </a>
      <div className={`fixed inset-x-0 top-0 z-40 h-[3px] ${lines[colourOf(environment.name)]}`} />
      <header className="sticky top-0 z-30 flex h-14 items-center justify-between border-b border-line bg-bg px-3 pt-[3px] lg:hidden">
        <IconButton name="menu" label="Open the navigation" aria-expanded={menu} onClick={() => setMenu(true)} />
        <span className="flex items-center gap-2 font-semibold">
          <Logo size={18} /> {environment.name}
        </span>
        <IconButton name="search" label="Search and commands" onClick={() => setPalette(true)} />
      </header>
      <aside
        className={`fixed inset-y-0 left-0 z-20 hidden border-r border-line bg-bg-2 pt-[3px] lg:block ${isSlim ? 'w-14' : 'w-[224px]'}`}
      >
        <Navigation
          environment={environment}
          environments={environments.data ?? []}
          isSlim={isSlim}
          onSearch={() => setPalette(true)}
          onSlim={(slim) => {
            stored('slim-navigation', slim)
            setSlim(slim)
          }}
        />
      </aside>
      {menu && (
        <div className="fixed inset-0 z-40 flex lg:hidden">
          <div className="w-[264px] max-w-[85vw] border-r border-line bg-bg-2 pt-[3px]">{navigation}</div>
          <button
            type="button"
            aria-label="Close the navigation"
            className="flex flex-1 items-start bg-black/40 p-3 text-white"
            onClick={() => setMenu(false)}
          >
            <Icon name="cross" size={20} />
          </button>
        </div>
      )}
      <main id="content" tabIndex={-1} className={`outline-none lg:pt-[3px] ${isSlim ? 'lg:pl-14' : 'lg:pl-[224px]'}`}>
        <Outlet />
      </main>
      <Shortcuts />
      {palette && <CommandPalette environments={environments.data ?? []} onClose={() => setPalette(false)} />}
    </div>
  )
}

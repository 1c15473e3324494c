// Signing in: by the identity provider, with e-mail and password, with an API key, or by the link that a start prints.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useEffect, useRef, useState } from 'react'
import { addressOf, sessionsAt } from '../addresses.ts'
import type { Schemas } from '../api.ts'
import { basePath } from '../api.ts'
import { loadSessions, loadSignInWays, sessionsKey, signIn } from '../session.tsx'
import { Button, buttonClass, Choice, TextField } from '../ui/controls.tsx'
import { Logo } from '../ui/icons.tsx'
import { Notice, useTitle } from '../ui/page.tsx'

/** Only an address of our own: whoever made a link must not send people elsewhere. */
const backTo = (text: unknown): string | undefined =>
  typeof text === 'string' && /^\/[a-z0-9-]+(?:[/?#]|$)/i.test(text) ? text : undefined

/** Why the identity provider's sign-in did not open a session. */
const refusals: Readonly<Record<string, string>> = {
  expired: 'The sign-in took too long, or began in another browser. Try again.',
  denied: 'The sign-in was declined at the identity provider.',
  provider: 'The identity provider did not confirm who you are. Try again, or ask the operator to look at the log.',
  unverified: 'The identity provider has not verified your e-mail address.',
  domain: 'Your e-mail address is of a domain that may not sign in here.',
  unknown: 'You have no user here yet. Ask an owner to invite you.',
  disabled: 'Your user is disabled. Ask an owner to enable it.',
}

type Way = 'password' | 'key'

export function SignInPage() {
  useTitle('Sign in')
  const navigate = useNavigate()
  const queries = useQueryClient()
  const search = useSearch({ strict: false }) as { to?: string; environment?: string; error?: string }
  const ways = useQuery({ queryKey: ['sign-in-ways'], queryFn: loadSignInWays, staleTime: 60_000 })
  const [chosen, setChosen] = useState<Way>()
  const [error, setError] = useState(
    search.error === undefined ? undefined : (refusals[search.error] ?? refusals.provider),
  )
  const [busy, setBusy] = useState(false)
  const used = useRef(false)

  async function enter(body: Schemas['OpenDashboardSession']) {
    setBusy(true)
    setError(undefined)
    try {
      const session = await signIn(body)
      queries.clear()
      const sessions = await queries.fetchQuery({ queryKey: sessionsKey, queryFn: loadSessions })
      const back = backTo(search.to)
      const isThere = back !== undefined && sessionsAt(back.split(/[/?#]/)[1] ?? '', sessions).length === 1
      const first = `/${addressOf(session.environment, sessions)}${body.link === undefined ? '' : '/start'}`
      void navigate({ to: isThere ? back : first, replace: true })
    } catch (fault) {
      setError((fault as Error).message)
      setBusy(false)
    }
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: a link is tried once, when the page opens
  useEffect(() => {
    const link = location.hash.slice(1)
    if (link === '' || used.current) return
    used.current = true
    history.replaceState(history.state, '', location.pathname + location.search)
    void enter({ link })
  }, [])

  const { password = false, oidc = null } = ways.data ?? {}
  const way: Way = chosen ?? (password ? 'password' : 'key')
  const to = backTo(search.to)
  return (
    <SignInFrame
      footer={
        <>
          On the machine that runs the service, <code className="font-mono">npx posthorn dashboard</code> prints a link
          that signs you in without a key.
        </>
      }
    >
      <div className="card flex flex-col gap-4 p-6">
        <h1 className="text-lg font-semibold tracking-tight">
          Sign in{search.environment === undefined ? '' : ` to ${search.environment}`}
        </h1>
        {error !== undefined && <Notice tone="error">{error}</Notice>}
        {oidc !== null && (
          <>
            <a
              href={`${basePath}v1/dashboard/oidc/start${to === undefined ? '' : `?to=${encodeURIComponent(to)}`}`}
              className={buttonClass('primary', 'h-9 justify-center')}
            >
              Sign in with {oidc}
            </a>
            <p className="flex items-center gap-3 text-xs text-ink-3">
              <span className="h-px flex-1 bg-line" />
              or
              <span className="h-px flex-1 bg-line" />
            </p>
          </>
        )}
        {password && (
          <Choice
            label="Sign in with"
            value={way}
            options={[
              ['password', 'E-mail and password'],
              ['key', 'API key'],
            ]}
            onChange={setChosen}
          />
        )}
        {ways.isPending ? null : way === 'password' ? (
          <PasswordForm busy={busy} look={oidc === null ? 'primary' : 'plain'} onEnter={enter} />
        ) : (
          <KeyForm
            busy={busy}
            environment={search.environment}
            look={oidc === null ? 'primary' : 'plain'}
            onEnter={enter}
          />
        )}
      </div>
    </SignInFrame>
  )
}

export function SignInFrame({ children, footer }: { children: ReactNode; footer?: ReactNode }) {
  return (
    <main className="flex min-h-screen items-center justify-center bg-bg-2 px-4 py-10">
      <div className="flex w-full max-w-[400px] flex-col gap-6">
        <div className="flex items-center justify-center gap-2 text-base font-semibold">
          <Logo size={26} />
          Posthorn
        </div>
        {children}
        {footer !== undefined && <p className="text-center text-xs text-ink-2">{footer}</p>}
      </div>
    </main>
  )
}

interface FormProps {
  readonly busy: boolean
  readonly look: 'primary' | 'plain'
  readonly onEnter: (body: Schemas['OpenDashboardSession']) => void
}

function PasswordForm({ busy, look, onEnter }: FormProps) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const isWhole = email.trim() !== '' && password !== ''
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (isWhole) onEnter({ email: email.trim(), password })
      }}
    >
      <TextField
        label="E-mail address"
        type="email"
        name="email"
        autoComplete="username"
        autoFocus
        value={email}
        maxLength={254}
        onText={setEmail}
      />
      <TextField
        label="Password"
        type="password"
        name="password"
        autoComplete="current-password"
        hint="Forgotten? An owner can reset it."
        value={password}
        maxLength={200}
        onText={setPassword}
      />
      <Button type="submit" look={look} busy={busy} disabled={!isWhole}>
        Sign in
      </Button>
    </form>
  )
}

function KeyForm({ busy, look, environment, onEnter }: FormProps & { environment: string | undefined }) {
  const [apiKey, setApiKey] = useState('')
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (apiKey.trim() !== '') onEnter({ apiKey: apiKey.trim() })
      }}
    >
      <p className="-mt-1 text-ink-2">
        With an API key{environment === undefined ? '' : ` of ${environment}`}. The key decides the environment, and
        what you may do there.
      </p>
      <TextField
        label="API key"
        type="password"
        name="api-key"
        autoComplete="current-password"
        autoFocus
        value={apiKey}
        placeholder="ph_…"
        onText={setApiKey}
      />
      <Button type="submit" look={look} busy={busy} disabled={apiKey.trim() === ''}>
        Sign in
      </Button>
    </form>
  )
}

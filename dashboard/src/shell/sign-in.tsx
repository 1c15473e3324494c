// Signing in: by the link that a start prints, or with an API key.
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { Session } from '../session.tsx'
import { sessionsKey, signIn, slugOf } from '../session.tsx'
import { Button, TextField } from '../ui/controls.tsx'
import { Logo } from '../ui/icons.tsx'
import { Notice, useTitle } from '../ui/page.tsx'

/** Only an address of our own: whoever made a link must not send people elsewhere. */
const backTo = (text: unknown): string | undefined =>
  typeof text === 'string' && /^\/[a-z0-9-]+(?:[/?#]|$)/i.test(text) ? text : undefined

export function SignInPage() {
  useTitle('Sign in')
  const navigate = useNavigate()
  const queries = useQueryClient()
  const search = useSearch({ strict: false }) as { to?: string; environment?: string }
  const [apiKey, setApiKey] = useState('')
  const [error, setError] = useState<string>()
  const [busy, setBusy] = useState(false)
  const used = useRef(false)

  async function enter(body: { apiKey: string } | { link: string }) {
    setBusy(true)
    setError(undefined)
    try {
      const session: Session = await signIn(body)
      queries.clear()
      await queries.invalidateQueries({ queryKey: sessionsKey })
      const slug = slugOf(session.environment.name)
      const back = backTo(search.to)
      const isThere = back !== undefined && back.split(/[/?#]/)[1] === slug
      void navigate({ to: isThere ? back : `/${slug}${'link' in body ? '/start' : ''}`, replace: true })
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

  return (
    <main className="flex min-h-screen items-center justify-center bg-bg-2 px-4 py-10">
      <div className="flex w-full max-w-[400px] flex-col gap-6">
        <div className="flex items-center justify-center gap-2 text-base font-semibold">
          <Logo size={26} />
          Posthorn
        </div>
        <form
          className="card flex flex-col gap-4 p-6"
          onSubmit={(event) => {
            event.preventDefault()
            if (apiKey.trim() !== '') void enter({ apiKey: apiKey.trim() })
          }}
        >
          <div>
            <h1 className="text-lg font-semibold tracking-tight">
              Sign in{search.environment === undefined ? '' : ` to ${search.environment}`}
            </h1>
            <p className="mt-1 text-ink-2">
              With an API key{search.environment === undefined ? '' : ` of ${search.environment}`}. The key decides the
              environment, and what you may do there.
            </p>
          </div>
          {error !== undefined && <Notice tone="error">{error}</Notice>}
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
          <Button type="submit" look="primary" busy={busy} disabled={apiKey.trim() === ''}>
            Sign in
          </Button>
        </form>
        <p className="text-center text-xs text-ink-2">
          On the machine that runs the service, <code className="font-mono">npx posthorn dashboard</code> prints a link
          that signs you in without a key.
        </p>
      </div>
    </main>
  )
}

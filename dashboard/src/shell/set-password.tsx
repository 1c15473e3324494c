// The page of the link that an owner gave: whoever has it sets their password, and is signed in.
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { ownerOfLink, setPassword } from '../session.tsx'
import { Button, TextField } from '../ui/controls.tsx'
import { Loading, Notice, useTitle } from '../ui/page.tsx'
import { SignInFrame } from './sign-in.tsx'

type Owner = Awaited<ReturnType<typeof ownerOfLink>>

export function SetPasswordPage() {
  useTitle('Set your password')
  const navigate = useNavigate()
  const queries = useQueryClient()
  // Taken once, and out of the address: it would stay in the history.
  const [link] = useState(() => location.hash.slice(1))
  const [owner, setOwner] = useState<Owner>()
  const [password, setTyped] = useState('')
  const [again, setAgain] = useState('')
  const [error, setError] = useState<string>()
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    history.replaceState(history.state, '', location.pathname)
    const missing = 'This page needs the whole link that you were given.'
    if (link === '') setError(missing)
    else ownerOfLink(link).then(setOwner, (fault: Error) => setError(fault.message))
  }, [link])

  async function set() {
    setBusy(true)
    setError(undefined)
    try {
      await setPassword({ link, password })
      queries.clear()
      void navigate({ to: '/', replace: true })
    } catch (fault) {
      setError((fault as Error).message)
      setBusy(false)
    }
  }

  return (
    <SignInFrame>
      <form
        className="card flex flex-col gap-4 p-6"
        onSubmit={(event) => {
          event.preventDefault()
          void set()
        }}
      >
        <h1 className="text-lg font-semibold tracking-tight">Set your password</h1>
        {error !== undefined && <Notice tone="error">{error}</Notice>}
        {owner === undefined && error === undefined && <Loading rows={3} />}
        {owner !== undefined && (
          <>
            <TextField
              label="E-mail address"
              type="email"
              name="email"
              autoComplete="username"
              readOnly
              value={owner.email}
              onText={() => {}}
            />
            <NewPasswordFields password={password} again={again} onPassword={setTyped} onAgain={setAgain} />
            <Button type="submit" look="primary" busy={busy} disabled={password === '' || password !== again}>
              Set password and sign in
            </Button>
          </>
        )}
      </form>
    </SignInFrame>
  )
}

export function NewPasswordFields({
  password,
  again,
  onPassword,
  onAgain,
}: {
  password: string
  again: string
  onPassword: (text: string) => void
  onAgain: (text: string) => void
}) {
  const isOther = again !== '' && !password.startsWith(again)
  return (
    <>
      <TextField
        label="New password"
        type="password"
        autoComplete="new-password"
        hint="At least 12 characters. A few words are easier to remember than a riddle."
        value={password}
        maxLength={200}
        onText={onPassword}
      />
      <TextField
        label="New password again"
        type="password"
        autoComplete="new-password"
        error={isOther ? 'The two differ.' : undefined}
        value={again}
        maxLength={200}
        onText={onAgain}
      />
    </>
  )
}

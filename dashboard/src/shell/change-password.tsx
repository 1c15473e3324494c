// Changing one's own password, with the one there is.
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { sessionsKey, setPassword } from '../session.tsx'
import { Button, TextField } from '../ui/controls.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Notice } from '../ui/page.tsx'
import { say } from '../ui/toast.tsx'
import { NewPasswordFields } from './set-password.tsx'

export function ChangePassword({ email, onClose }: { email: string; onClose: () => void }) {
  const queries = useQueryClient()
  const [currentPassword, setCurrent] = useState('')
  const [password, setTyped] = useState('')
  const [again, setAgain] = useState('')
  const [error, setError] = useState<string>()
  const [busy, setBusy] = useState(false)

  async function change() {
    setBusy(true)
    setError(undefined)
    try {
      await setPassword({ email, currentPassword, password })
      await queries.invalidateQueries({ queryKey: sessionsKey })
      say('The password is changed. Your other sessions are ended.')
      onClose()
    } catch (fault) {
      setError((fault as Error).message)
      setBusy(false)
    }
  }

  const isWhole = currentPassword !== '' && password !== '' && password === again
  return (
    <Dialog
      title="Change password"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button look="primary" busy={busy} disabled={!isWhole} onClick={() => void change()}>
            Change password
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {error !== undefined && <Notice tone="error">{error}</Notice>}
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          value={currentPassword}
          maxLength={200}
          onText={setCurrent}
        />
        <NewPasswordFields password={password} again={again} onPassword={setTyped} onAgain={setAgain} />
      </div>
    </Dialog>
  )
}

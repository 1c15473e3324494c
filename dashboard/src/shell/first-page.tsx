// The bare address: to the environment that one is signed in to, or to the sign-in page.
import { Navigate } from '@tanstack/react-router'
import { addressOf } from '../addresses.ts'
import { useSessions } from '../session.tsx'
import { Answered } from '../ui/page.tsx'

export function FirstPage() {
  const sessions = useSessions()
  return (
    <Answered of={sessions}>
      {([first, ...others]) =>
        first === undefined ? (
          <Navigate to="/sign-in" replace />
        ) : (
          <Navigate to={`/${addressOf(first.environment, others)}`} replace />
        )
      }
    </Answered>
  )
}

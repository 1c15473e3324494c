// An address that is no page.
import { Link } from '@tanstack/react-router'
import { buttonClass } from '../ui/controls.tsx'
import { Empty, useTitle } from '../ui/page.tsx'

export function NotFound() {
  useTitle('Not found')
  return (
    <main className="flex min-h-[60vh] items-center justify-center">
      <Empty
        icon="search"
        title="There is no such page"
        action={
          <Link to="/" className={buttonClass('plain')}>
            Go to the dashboard
          </Link>
        }
      >
        The address may be mistyped, or what it named was deleted.
      </Empty>
    </main>
  )
}

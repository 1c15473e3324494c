// Links and moves within the environment of the page.
import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useEnvironment } from './session.tsx'

type Search = Record<string, string | undefined>

const filled = (search: Search | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(search ?? {}).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
    ),
  )

export function EnvLink({
  to,
  search,
  className,
  children,
  title,
  stays = false,
}: {
  to: string
  search?: Search
  className?: string
  children: ReactNode
  title?: string
  stays?: boolean
}) {
  const { slug } = useEnvironment()
  return (
    <Link to={`/${slug}${to}`} search={filled(search)} className={className} title={title} resetScroll={!stays}>
      {children}
    </Link>
  )
}

interface GoOptions {
  readonly replace?: boolean
  /** The page stays where it was scrolled to: what changes is beside what is read. */
  readonly stays?: boolean
}

export function useGo(): (to: string, search?: Search, options?: GoOptions) => void {
  const navigate = useNavigate()
  const { slug } = useEnvironment()
  return (to, search, options) => {
    void navigate({
      to: `/${slug}${to}`,
      search: filled(search),
      replace: options?.replace ?? false,
      resetScroll: options?.stays !== true,
    })
  }
}

// The anatomy of a page: title, sentence, actions; and its states: loading, empty, failed.
import type { ReactNode } from 'react'
import { useEffect } from 'react'
import { ApiError } from '../api.ts'
import { Button } from './controls.tsx'
import { CopyText } from './copy.tsx'
import type { IconName } from './icons.tsx'
import { Icon } from './icons.tsx'

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Posthorn`
  }, [title])
}

export function Page({
  title,
  count,
  lead,
  actions,
  above,
  children,
  wide = true,
}: {
  title: string
  count?: string | undefined
  lead?: ReactNode
  actions?: ReactNode
  above?: ReactNode
  children: ReactNode
  wide?: boolean
}) {
  useTitle(title)
  return (
    <div className="mx-auto w-full max-w-[1440px] px-4 py-6 sm:px-6 lg:px-8">
      {/* A form that is not wide begins where the list began from which one came. */}
      <div className={`flex flex-col gap-5 ${wide ? '' : 'max-w-[896px]'}`}>
        <header className="flex flex-wrap items-start justify-between gap-3">
          <div className="min-w-0 flex-1 basis-72">
            {above}
            <h1 dir="auto" className="text-lg font-semibold tracking-tight break-words">
              {title}
              {count !== undefined && <span className="ml-2 text-sm font-normal text-ink-3">{count}</span>}
            </h1>
            {lead !== undefined && <p className="mt-0.5 max-w-[76ch] text-pretty text-ink-2">{lead}</p>}
          </div>
          {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </header>
        {children}
      </div>
    </div>
  )
}

export function Section({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className="card">
      <header className="flex min-h-11 flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-1.5">
        <h2 className="text-sm font-semibold">{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  )
}

export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon: IconName
  title: string
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-12 text-center">
      <span className="flex size-10 items-center justify-center rounded-full bg-bg-3 text-ink-2">
        <Icon name={icon} size={18} />
      </span>
      <p className="font-medium">{title}</p>
      {children !== undefined && <p className="max-w-[52ch] text-ink-2">{children}</p>}
      {action !== undefined && <div className="mt-2">{action}</div>}
    </div>
  )
}

/** The shape of what comes, so that nothing moves when it is there. */
export function Loading({ rows = 6 }: { rows?: number }) {
  return (
    <div role="status" aria-label="Loading" className="flex flex-col gap-3 p-4">
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows that are all alike
        <div key={index} className="skeleton h-4" style={{ width: `${92 - ((index * 17) % 40)}%` }} />
      ))}
    </div>
  )
}

export function Failed({ error, retry }: { error: Error; retry?: () => void }) {
  const { status, errorId } = error instanceof ApiError ? error : { status: undefined, errorId: undefined }
  const title =
    status === 403
      ? 'You may not see this'
      : status === 404
        ? 'Not found'
        : status === 0
          ? 'No connection'
          : 'This did not work'
  return (
    <div role="alert" className="flex flex-col items-center gap-2 px-6 py-12 text-center">
      <span className="flex size-10 items-center justify-center rounded-full bg-red-bg text-red">
        <Icon name="warning" size={18} />
      </span>
      <p className="font-medium">{title}</p>
      <p className="max-w-[60ch] text-ink-2">{error.message}</p>
      {errorId !== undefined && (
        <p className="text-xs text-ink-3">
          Error <CopyText text={errorId} />
        </p>
      )}
      {retry !== undefined && (
        <Button className="mt-2" icon="again" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}

export interface Asked<Data> {
  readonly data: Data | undefined
  readonly error: Error | null
  refetch(): unknown
}

/** What was asked for, or where it stands. */
export function Answered<Data>({
  of: asked,
  rows,
  children,
}: {
  of: Asked<Data>
  rows?: number
  children: (data: Data) => ReactNode
}) {
  if (asked.data !== undefined) return children(asked.data)
  if (asked.error !== null) return <Failed error={asked.error} retry={() => asked.refetch()} />
  return <Loading rows={rows ?? 6} />
}

/** What did not work, beside what was to be done: what was typed is still there. */
export function Fault({ error }: { error: Error | null }) {
  if (error === null) return null
  const { errorId } = error instanceof ApiError ? error : { errorId: undefined }
  return (
    <Notice tone="error">
      {error.message}
      {errorId !== undefined && (
        <span className="block text-xs">
          Quote this when you report it: <CopyText text={errorId} whole />
        </span>
      )}
    </Notice>
  )
}

export function Notice({ tone, children }: { tone: 'info' | 'warning' | 'error' | 'good'; children: ReactNode }) {
  const looks = {
    info: 'bg-blue-bg text-blue',
    warning: 'bg-amber-bg text-amber',
    error: 'bg-red-bg text-red',
    good: 'bg-green-bg text-green',
  }
  const icons: Record<typeof tone, IconName> = { info: 'info', warning: 'warning', error: 'warning', good: 'check' }
  return (
    <div role={tone === 'error' ? 'alert' : 'status'} className={`flex gap-2 rounded-md px-3 py-2 ${looks[tone]}`}>
      <Icon name={icons[tone]} className="mt-0.5" />
      <div className="min-w-0">{children}</div>
    </div>
  )
}

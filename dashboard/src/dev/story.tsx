// A story: a part of the dashboard by its name, and what it looks like.
import type { ComponentType, ReactNode } from 'react'

export interface Story {
  readonly name: string
  readonly shows: ComponentType
}

/** Several states beside each other. */
export const Row = ({ children }: { children: ReactNode }) => (
  <div className="flex flex-wrap items-start gap-3">{children}</div>
)

/** One state with its name. */
export const State = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="flex min-w-0 flex-1 basis-72 flex-col gap-1">
    <span className="text-xs text-ink-3">{name}</span>
    {children}
  </div>
)

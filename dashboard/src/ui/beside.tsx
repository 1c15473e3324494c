// A detail beside its list on wide screens, and in its place on narrow ones: one walks through a list without losing it.
import type { ReactNode } from 'react'

/** As the layout itself decides: from here on a detail stands beside the list, and the page stays where it was scrolled to. */
export const isBeside = (): boolean => matchMedia('(min-width: 1280px)').matches

/** For what belongs to the list alone, such as its filters. */
export const hiddenWith = (detail: unknown): string => (detail === undefined ? '' : 'max-xl:hidden')

export function Beside({ detail, children }: { detail: ReactNode | undefined; children: ReactNode }) {
  return (
    <div
      className={
        detail === undefined ? '' : 'grid grid-cols-1 items-start gap-4 xl:grid-cols-[minmax(0,1fr)_minmax(440px,40%)]'
      }
    >
      <div className={hiddenWith(detail)}>{children}</div>
      {detail}
    </div>
  )
}

// The columns of a table, and how wide they are: as they were left in this browser, until they are reset.
import type { ReactNode } from 'react'
import { useState } from 'react'
import { forgotten, kept, stored } from './kept.ts'

export interface Column<Row> {
  readonly head: string
  /** Left out on screens narrower than so. */
  readonly from?: 'sm' | 'md' | 'lg' | 'xl'
  /** Columns without one share what the others leave, and cut what is too long. */
  readonly width?: string
  readonly right?: boolean
  readonly cell: (row: Row) => ReactNode
}

/** Narrower, and nothing of a cell can be read. */
export const widthMin = 64
/** Wider than the widest list. */
export const widthMax = 1_200

type Widths = Readonly<Record<string, number>>

/** What an older version or another script kept there is not trusted. */
function readWidths(name: string): Widths {
  const found = kept<unknown>(name)
  if (typeof found !== 'object' || found === null) return {}
  return Object.fromEntries(
    Object.entries(found).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number' && Number.isFinite(entry[1]),
    ),
  )
}

export const clampedWidth = (width: number): number => Math.round(Math.min(Math.max(width, widthMin), widthMax))

/** By the head of the column; unchanged ones are not among them. */
export function useColumnWidths(table: string) {
  const name = `columns-${table}`
  const [widths, setWidths] = useState<Widths>(() => readWidths(name))
  const change = (next: Widths) => {
    setWidths(next)
    if (Object.keys(next).length === 0) forgotten(name)
    else stored(name, next)
  }
  return {
    widths,
    set: (head: string, width: number) => change({ ...widths, [head]: clampedWidth(width) }),
    reset: (head: string) => {
      const { [head]: _gone, ...rest } = widths
      change(rest)
    },
  }
}

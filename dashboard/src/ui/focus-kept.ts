// The focus of a list whose rows come and go: a row that left it hands the focus to the one in its place.
import type { FocusEvent } from 'react'
import { useEffect, useRef } from 'react'
import { stopInPlace } from './selection.ts'

/** For the element whose children are the rows. */
export function useFocusKept() {
  const had = useRef<{ readonly row: HTMLElement; readonly place: number; readonly list: HTMLElement }>(undefined)
  // After every change of the list.
  useEffect(() => {
    const { row, place, list } = had.current ?? {}
    if (row === undefined || list?.isConnected !== true) return
    if (row.isConnected) had.current = { row, place: [...list.children].indexOf(row), list }
    else if (document.activeElement === document.body) {
      had.current = undefined
      stopInPlace(list, place ?? 0)?.focus({ preventScroll: true })
    }
  })
  return {
    onFocus: ({ currentTarget, target }: FocusEvent<HTMLElement>) => {
      const row = [...currentTarget.children].find((one) => one.contains(target))
      if (!(row instanceof HTMLElement)) return
      had.current = { row, place: [...currentTarget.children].indexOf(row), list: currentTarget }
    },
    // Where the focus went, it stays. A row that was taken away may report the same.
    onBlur: ({ target }: FocusEvent<HTMLElement>) => {
      if (target.isConnected) had.current = undefined
    },
  }
}

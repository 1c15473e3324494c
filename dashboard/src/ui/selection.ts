// Which rows are chosen for what is done to many: one by one, a whole range with Shift, or all that are loaded.
import type { KeyboardEvent } from 'react'
import { useRef, useState } from 'react'

export interface Selection<Row> {
  /** In the order of the list; a row that left the list is not among them. */
  readonly rows: readonly Row[]
  readonly isAll: boolean
  has(key: string): boolean
  /** With `isRange` everything from the last one that was chosen up to this. */
  toggle(key: string, isRange: boolean): void
  toggleAll(): void
  drop(keys: readonly string[]): void
  clear(): void
  /** x, Shift with an arrow, Ctrl-A and Escape, on the row that has the focus; true where it was one of them. */
  press(event: KeyboardEvent<HTMLElement>, key: string): boolean
}

/** A row of a table has the focus itself, an entry of another list its link. */
export const stopOf = (row: HTMLElement): HTMLElement | null =>
  row.tabIndex >= 0 ? row : row.querySelector<HTMLElement>('a')

/** Of a row that left its list: the one in its place, or the last. Rows where the focus cannot stop only fill space. */
export function stopInPlace(list: Element, place: number): HTMLElement | null {
  const stops = [...list.children].slice(place).concat([...list.children].slice(0, place).reverse())
  for (const row of stops) {
    const stop = row instanceof HTMLElement ? stopOf(row) : null
    if (stop !== null) return stop
  }
  return null
}

export function useSelection<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Selection<Row> {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const anchor = useRef<string | undefined>(undefined)
  const keys = rows.map(keyOf)
  const found = rows.filter((row) => chosen.has(keyOf(row)))
  const isAll = rows.length > 0 && found.length === rows.length
  const add = (more: readonly string[]) => setChosen(new Set([...chosen, ...more]))
  const toggle = (key: string, isRange: boolean) => {
    const [from, to] = [keys.indexOf(anchor.current ?? ''), keys.indexOf(key)]
    if (isRange && from >= 0 && to >= 0) return add(keys.slice(Math.min(from, to), Math.max(from, to) + 1))
    anchor.current = key
    const next = new Set(chosen)
    if (!next.delete(key)) next.add(key)
    setChosen(next)
  }
  const clear = () => {
    anchor.current = undefined
    setChosen(new Set())
  }
  const toggleAll = () => (isAll ? clear() : add(keys))
  /** Both rows are chosen then, as in a list of files. */
  const extend = (event: KeyboardEvent<HTMLElement>, key: string, by: number) => {
    const next = by > 0 ? event.currentTarget.nextElementSibling : event.currentTarget.previousElementSibling
    const other = keys[keys.indexOf(key) + by]
    anchor.current ??= key
    add(other === undefined ? [key] : [key, other])
    if (next instanceof HTMLElement) stopOf(next)?.focus()
  }
  const press = (event: KeyboardEvent<HTMLElement>, key: string): boolean => {
    const isCommand = event.ctrlKey || event.metaKey
    const by = { J: 1, ArrowDown: 1, K: -1, ArrowUp: -1 }[event.key]
    if (event.key === 'x' && !isCommand && !event.altKey) toggle(key, false)
    else if (event.shiftKey && by !== undefined && !isCommand) extend(event, key, by)
    else if (isCommand && event.key === 'a') add(keys)
    else if (event.key === 'Escape' && found.length > 0) clear()
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }
  return {
    rows: found,
    isAll,
    has: (key) => chosen.has(key),
    toggle,
    toggleAll,
    // Called at the end of a run, when other rows may be chosen than at its start.
    drop: (gone) => setChosen((now) => new Set([...now].filter((key) => !gone.includes(key)))),
    clear,
    press,
  }
}

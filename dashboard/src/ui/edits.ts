// What was changed in a form and is not saved yet. A newer record from the service takes nothing of it away: fields that were
// not touched show it, and a field that was changed here and there is a conflict.
import { useEffect, useState } from 'react'
import { forgotten, kept, stored } from './kept.ts'

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

interface State<Fields> {
  readonly made: Partial<Fields>
  /** What the service had in a field when it was first changed here. */
  readonly from: Partial<Fields>
}

export interface Edits<Fields> {
  readonly values: Fields
  /** What differs from the record: as a save sends it. */
  readonly changed: Partial<Fields>
  readonly isChanged: boolean
  /** Someone else saved another value of a field that was changed here. */
  readonly isOvertaken: boolean
  /** Grows with each discard: as a key it makes fields with text of their own begin again. */
  readonly discards: number
  set(members: Partial<Fields>): void
  discard(): void
  /** After a save: what was typed while it was under way stays. */
  settle(sent: Partial<Fields>): void
}

/** `keptAs`: what this browser keeps them under until they are saved or discarded; for what holds no secret. */
export function useEdits<Fields extends object>(saved: Fields, keptAs?: string): Edits<Fields> {
  type Name = keyof Fields
  const none = { made: {}, from: {} }
  const [{ made, from }, setState] = useState<State<Fields>>(
    () => (keptAs === undefined ? undefined : kept<State<Fields>>(keptAs)) ?? none,
  )
  const [discards, setDiscards] = useState(0)
  const changedNames = (Object.keys(made) as Name[]).filter((name) => !isSame(made[name], saved[name]))
  const isChanged = changedNames.length > 0
  useEffect(() => {
    if (keptAs === undefined) return
    if (isChanged) stored(keptAs, { made, from })
    else forgotten(keptAs)
  }, [keptAs, isChanged, made, from])
  return {
    values: { ...saved, ...made },
    changed: Object.fromEntries(changedNames.map((name) => [name, made[name]])) as Partial<Fields>,
    isChanged,
    isOvertaken: changedNames.some((name) => !isSame(from[name], saved[name])),
    discards,
    set: (members) =>
      setState((now) => ({
        made: { ...now.made, ...members },
        from: {
          ...Object.fromEntries((Object.keys(members) as Name[]).map((name) => [name, saved[name]])),
          ...now.from,
        },
      })),
    discard: () => {
      // At once: the page of a record that is deleted may be gone before it is drawn again.
      if (keptAs !== undefined) forgotten(keptAs)
      setState({ made: {}, from: {} })
      setDiscards(discards + 1)
    },
    settle: (sent) =>
      setState((now) => {
        const left = (Object.keys(now.made) as Name[]).filter(
          (name) => !(name in sent) || !isSame(now.made[name], sent[name]),
        )
        const of = (values: (name: Name) => unknown) =>
          Object.fromEntries(left.map((name) => [name, values(name)])) as Partial<Fields>
        return {
          made: of((name) => now.made[name]),
          from: of((name) => (name in sent ? sent[name] : now.from[name])),
        }
      }),
  }
}

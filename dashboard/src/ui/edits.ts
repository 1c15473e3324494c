// What was changed in a form and is not saved yet. A newer record from the service takes nothing of it away: fields that were
// not touched show it, and a field that was changed here and there is a conflict.
import { useState } from 'react'

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

export function useEdits<Fields extends object>(saved: Fields): Edits<Fields> {
  type Name = keyof Fields
  const [{ made, from }, setState] = useState<State<Fields>>({ made: {}, from: {} })
  const [discards, setDiscards] = useState(0)
  const changedNames = (Object.keys(made) as Name[]).filter((name) => !isSame(made[name], saved[name]))
  return {
    values: { ...saved, ...made },
    changed: Object.fromEntries(changedNames.map((name) => [name, made[name]])) as Partial<Fields>,
    isChanged: changedNames.length > 0,
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

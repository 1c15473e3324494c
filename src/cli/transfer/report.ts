// What a transfer could not carry over, and why: a line for each in a file, and counts for the last words.
import type { Terminal } from '../command.ts'
import { visible } from '../terminal/visible-text.ts'
import { openLines } from './progress.ts'

export interface Left {
  /** `workflow`, `subscriber` and so on. */
  readonly kind: string
  readonly id: string
  readonly reason: string
}

export interface Report {
  readonly path: string
  left(items: readonly Left[]): Promise<void>
  counts(): ReadonlyMap<string, number>
}

/** How many are also shown on the terminal. */
const shownMax = 20

export async function openReport(
  terminal: Pick<Terminal, 'note'>,
  path: string,
  how: { readonly goesOn: boolean },
): Promise<Report> {
  const lines = await openLines(path, how)
  const counts = new Map<string, number>()
  const counted = (kind: string) => counts.set(kind, (counts.get(kind) ?? 0) + 1)
  for (const { kind } of lines.before as readonly Left[]) counted(kind)
  let shown = 0
  return {
    path,
    left: async (items) => {
      if (items.length === 0) return
      for (const { kind, id, reason } of await lines.add(items)) {
        counted(kind)
        shown += 1
        if (shown <= shownMax) terminal.note(visible(`${kind} ${id}: ${reason}`))
        else if (shown === shownMax + 1) terminal.note('More is in the report.')
      }
    },
    counts: () => counts,
  }
}

/** Plain counts by kind: `100000 subscribers, 50 workflows`. */
export const countWords = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ') || 'nothing'

// Pages as a node answered them, each with the stamp of the rows it was read from.
import { BoundedMap } from '../../domain/bounded-map.ts'

export interface KeptPage {
  readonly stamp: string
  /** As it was sent. */
  readonly text: string
}

export interface KeptPages<Page extends KeptPage = KeptPage> {
  find(key: string, now: Date): Page | undefined
  /** `now`: when its reading began. Those that are too old by then are forgotten. */
  keep(key: string, page: Page, now: Date): void
  forget(key: string): void
}

export interface KeptPagesBounds {
  readonly pagesMax: number
  /** Of all of them, texts and stamps, in characters; up to two bytes each. */
  readonly lengthMax: number
  /** Of the text of one. */
  readonly textLengthMax: number
}

/** What the stamp does not cover is late by this at the most, such as events that retention has deleted before their messages. */
export const ageMsMax = 60_000

export function createKeptPages<Page extends KeptPage = KeptPage>(bounds: KeptPagesBounds): KeptPages<Page> {
  const kept = new BoundedMap<string, { readonly page: Page; readonly readAt: Date }>(bounds.pagesMax, {
    max: bounds.lengthMax,
    of: ({ page: { stamp, text } }) => stamp.length + text.length,
  })
  return {
    find: (key, now) => {
      const known = kept.get(key)
      return known !== undefined && isRecent(known, now) ? known.page : undefined
    },
    keep: (key, page, now) => {
      for (const [oldest, known] of kept) {
        if (isRecent(known, now)) break
        kept.delete(oldest)
      }
      if (page.text.length > bounds.textLengthMax) kept.delete(key)
      else kept.set(key, { page, readAt: now })
    },
    forget: (key) => {
      kept.delete(key)
    },
  }
}

/** A clock that was set back says nothing about an age. */
function isRecent({ readAt }: { readonly readAt: Date }, now: Date): boolean {
  const ageMs = now.getTime() - readAt.getTime()
  return ageMs >= 0 && ageMs <= ageMsMax
}

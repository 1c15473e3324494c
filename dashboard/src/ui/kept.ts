// What this browser keeps until it is saved: a draft survives a reload, a crash and a session that ran out; not a sign-out.

const start = 'posthorn-draft-'
const nameOf = (what: string): string => `${start}${what}`
/** How the dashboard looks, and nothing of what is in it: the navigation, and the widths of columns. */
const isLook = (name: string): boolean => name === nameOf('slim-navigation') || name.startsWith(nameOf('columns-'))

/** Undefined where nothing was kept, or nothing that can be read. */
export function kept<Value>(what: string): Value | undefined {
  try {
    const text = localStorage.getItem(nameOf(what))
    return text === null ? undefined : (JSON.parse(text) as Value)
  } catch {
    return undefined
  }
}

/** A browser that keeps nothing, or no more, keeps the page working. */
export function stored(what: string, value: unknown): void {
  try {
    localStorage.setItem(nameOf(what), JSON.stringify(value))
  } catch {
    // The edits are still on the page.
  }
}

export function forgotten(what: string): void {
  try {
    localStorage.removeItem(nameOf(what))
  } catch {
    // Nothing was kept.
  }
}

/** Whoever signs out leaves nothing that was typed to the next one at this browser. */
export function forgetAllEdits(): void {
  try {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith(start) && !isLook(name)) localStorage.removeItem(name)
    }
  } catch {
    // Nothing was kept.
  }
}

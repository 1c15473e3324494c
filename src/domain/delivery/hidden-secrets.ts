// Secrets of integrations that are hidden from everyone: what replaces them, and what happens when that is saved.

/** Not a plausible secret, and easy to recognise in a form. */
export const hiddenSecret = '[hidden]'

/** What is shown in the place of a value, of the same type: a flag reveals no secret. */
export function hiddenAs(value: unknown): unknown {
  if (typeof value === 'boolean' || value === '' || value === undefined) return value
  return typeof value === 'object' && value !== null ? { hidden: hiddenSecret } : hiddenSecret
}

function isHidden(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === hiddenSecret
  const members = Object.entries(value)
  return members.length === 1 && members.every(([name, member]) => name === 'hidden' && member === hiddenSecret)
}

/** The fields whose values were hidden. */
export const hiddenNames = (given: object): string[] =>
  Object.entries(given).flatMap(([name, value]) => (isHidden(value) ? [name] : []))

/** What was read as hidden and is saved again keeps the stored value; without one there is nothing to keep. */
export function unhidden<Members extends object>(given: Members, stored: object | undefined): Members {
  const kept = stored as Readonly<Record<string, unknown>> | undefined
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => {
      if (!isHidden(value)) return [[name, value]]
      return kept?.[name] === undefined ? [] : [[name, kept[name]]]
    }),
  ) as Members
}

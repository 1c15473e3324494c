// Secrets of integrations that are hidden from everybody: what stands in their place, and what becomes of it when it is saved.

/** Nobody's secret, and easy to see in a form. */
export const hiddenSecret = '[hidden]'

/** What was read as hidden and is saved again keeps what is stored; without it there is nothing to keep. */
export function unhidden<Members extends object>(given: Members, stored: object | undefined): Members {
  const kept = stored as Readonly<Record<string, unknown>> | undefined
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => {
      if (value !== hiddenSecret) return [[name, value]]
      return kept?.[name] === undefined ? [] : [[name, kept[name]]]
    }),
  ) as Members
}

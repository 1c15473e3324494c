// JSON as the database gives it back, for code that uses it before it is stored.

/**
 * `jsonb` has an order of its own for the members of objects: shorter names first, those of one length by their bytes. Templates can
 * show the order. The value itself if it is in that order already, as those without objects of several members are.
 */
export function inStoredOrder<Value>(value: Value): Value {
  return stored(value) as Value
}

function stored(value: unknown): unknown {
  // JSON has no negative zero once it is written.
  if (typeof value !== 'object' || value === null) return value === 0 ? 0 : value
  if (Array.isArray(value)) return storedList(value)
  const entries = Object.entries(value)
  let isSame = true
  for (let place = 0; place < entries.length; place += 1) {
    const entry = entries[place] as [string, unknown]
    const own = stored(entry[1])
    if (!Object.is(own, entry[1])) isSame = false
    entry[1] = own
    if (place > 0 && byName(entries[place - 1] as [string, unknown], entry) > 0) isSame = false
  }
  return isSame ? value : Object.fromEntries(entries.sort(byName))
}

function storedList(list: readonly unknown[]): readonly unknown[] {
  const all = list.map(stored)
  return all.every((item, place) => Object.is(item, list[place])) ? list : all
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  const longer = Buffer.byteLength(one) - Buffer.byteLength(other)
  return longer === 0 ? Buffer.compare(Buffer.from(one), Buffer.from(other)) : longer
}

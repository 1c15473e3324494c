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
  return Array.isArray(value) ? storedList(value) : storedObject(value as Readonly<Record<string, unknown>>)
}

function storedList(list: readonly unknown[]): readonly unknown[] {
  let changed: unknown[] | undefined
  for (let place = 0; place < list.length; place += 1) {
    const own = stored(list[place])
    if (Object.is(own, list[place])) continue
    changed ??= [...list]
    changed[place] = own
  }
  return changed ?? list
}

function storedObject(object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const names = Object.keys(object)
  let isSame = true
  for (let place = 1; isSame && place < names.length; place += 1)
    isSame = byName(names[place - 1] as string, names[place] as string) < 0
  if (!isSame) names.sort(byName)
  // By assignment: `Object.fromEntries` takes twice as long.
  const ordered: Record<string, unknown> = {}
  for (const name of names) {
    const own = stored(object[name])
    isSame &&= Object.is(own, object[name])
    if (name === '__proto__') Object.defineProperty(ordered, name, { ...asMember, value: own })
    else ordered[name] = own
  }
  return isSame ? object : ordered
}

const asMember = { enumerable: true, writable: true, configurable: true }

function byName(one: string, other: string): number {
  // Most names are: comparing bytes takes longer.
  if (isAscii(one) && isAscii(other)) return one.length - other.length || (one < other ? -1 : 1)
  return Buffer.byteLength(one) - Buffer.byteLength(other) || Buffer.compare(Buffer.from(one), Buffer.from(other))
}

function isAscii(text: string): boolean {
  for (let place = 0; place < text.length; place += 1) if (text.charCodeAt(place) > 0x7f) return false
  return true
}

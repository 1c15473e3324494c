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
  let isSame = !sortNames(names)
  const values: unknown[] = []
  for (let place = 0; place < names.length; place += 1) {
    const given = object[names[place] as string]
    const own = stored(given)
    isSame &&= Object.is(own, given)
    values.push(own)
  }
  return isSame ? object : objectOf(names, values)
}

function objectOf(names: readonly string[], values: readonly unknown[]): Readonly<Record<string, unknown>> {
  // By assignment: `Object.fromEntries` takes twice as long.
  const ordered: Record<string, unknown> = {}
  for (let place = 0; place < names.length; place += 1) {
    const name = names[place] as string
    if (name === '__proto__') Object.defineProperty(ordered, name, { ...asMember, value: values[place] })
    else ordered[name] = values[place]
  }
  return ordered
}

const asMember = { enumerable: true, writable: true, configurable: true }
/** Of more names, `sort` is faster. */
const fewNames = 20

/** Whether their order was another. */
function sortNames(names: string[]): boolean {
  let isChanged = false
  if (names.length > fewNames) {
    for (let place = 1; !isChanged && place < names.length; place += 1)
      isChanged = isAfter(names[place - 1] as string, names[place] as string)
    if (isChanged) names.sort((one, other) => (isAfter(one, other) ? 1 : -1))
    return isChanged
  }
  for (let place = 1; place < names.length; place += 1) {
    const name = names[place] as string
    let at = place
    for (; at > 0 && isAfter(names[at - 1] as string, name); at -= 1) names[at] = names[at - 1] as string
    if (at === place) continue
    names[at] = name
    isChanged = true
  }
  return isChanged
}

function isAfter(one: string, other: string): boolean {
  // Most names are: comparing bytes takes longer.
  if (isAscii(one) && isAscii(other)) return one.length === other.length ? one > other : one.length > other.length
  const lengths = Buffer.byteLength(one) - Buffer.byteLength(other)
  return (lengths || Buffer.compare(Buffer.from(one), Buffer.from(other))) > 0
}

function isAscii(text: string): boolean {
  for (let place = 0; place < text.length; place += 1) if (text.charCodeAt(place) > 0x7f) return false
  return true
}

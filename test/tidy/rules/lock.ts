// package-lock.json: whether it is whole, and the Node versions its packages admit.

interface LockedPackage {
  readonly engines?: { readonly node?: string } | readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

type Version = readonly [number, number, number]

/** The packages that refuse a Node version, each with the range it asks for. */
export function refusing(lock: Lock, version: string): string[] {
  return Object.entries(lock.packages).flatMap(([path, entry]) => {
    const range = entry.engines !== undefined && 'node' in entry.engines ? entry.engines.node : undefined
    return range === undefined || admits(range, version) ? [] : [`${path} wants Node ${range}`]
  })
}

/**
 * What a package asks for and the lock does not hold, even if only for another platform: `npm ci` refuses such a lock
 * everywhere.
 */
export function missing(lock: Lock): string[] {
  return Object.entries(lock.packages).flatMap(([path, entry]) =>
    Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
      .filter((name) => !placesOf(path, name).some((place) => place in lock.packages))
      .map((name) => `${path} asks for ${name}, which is not in the lock`),
  )
}

/** Where Node would look for a package, from the nearest node_modules outwards. */
function placesOf(path: string, name: string): string[] {
  const folders =
    path === ''
      ? []
      : path.split('/node_modules/').map((_part, index, all) => all.slice(0, index + 1).join('/node_modules/'))
  return ['', ...folders].map((folder) => `${folder === '' ? '' : `${folder}/`}node_modules/${name}`)
}

/**
 * Whether a range admits a version: `||`, comparators, `^`, `~`, `x` and `a - b`, as packages write them. Limit: no
 * pre-releases. What it cannot read counts as a refusal, so that someone looks.
 */
export function admits(range: string, version: string): boolean {
  const wanted = versionOf(version)
  return wanted !== undefined && range.split('||').some((part) => admitsAll(part.trim(), wanted))
}

function admitsAll(part: string, version: Version): boolean {
  const between = /^(\S+)\s+-\s+(\S+)$/.exec(part)
  if (between !== null) return admitsAll(`>=${between[1]} <=${between[2]}`, version)
  return part
    .replaceAll(/([<>=^~]+)\s+/g, '$1')
    .split(/\s+/)
    .every((comparator) => admitsOne(comparator, version))
}

function admitsOne(comparator: string, version: Version): boolean {
  if (comparator === '' || comparator === '*' || comparator === 'x') return true
  const [, operator = '', text = ''] = /^([<>]=?|[=^~]|)v?(.*)$/.exec(comparator) ?? []
  const least = versionOf(text)
  if (least === undefined) return false
  const given = text.split('.').filter((digits) => /^\d+$/.test(digits)).length
  const fromLeast = compare(version, least)
  switch (operator) {
    case '>=':
      return fromLeast >= 0
    case '<':
      return fromLeast < 0
    case '>':
      return given === 3 ? fromLeast > 0 : fromLeast > 0 && !sameUpTo(version, least, given)
    case '<=':
      return fromLeast <= 0 || sameUpTo(version, least, given)
    case '^':
      return fromLeast >= 0 && sameUpTo(version, least, 1)
    case '~':
      return fromLeast >= 0 && sameUpTo(version, least, Math.min(given, 2))
    default:
      return sameUpTo(version, least, given)
  }
}

function versionOf(text: string): Version | undefined {
  const parts = text.split('.')
  if (parts.length > 3 || !parts.every((part) => /^(?:\d+|[xX*])$/.test(part)) || !/^\d+$/.test(parts[0] ?? ''))
    return undefined
  const [major, minor, patch] = parts.map((part) => Number(part.replace(/[xX*]/, '0')))
  return [major ?? 0, minor ?? 0, patch ?? 0]
}

function compare(one: Version, other: Version): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2]
}

function sameUpTo(one: Version, other: Version, count: number): boolean {
  return one.slice(0, count).every((part, index) => part === other[index])
}

// What is installed: whether the lock file names it safely, under which licences, and the bill of materials made from it.

/** After so long an exception is looked at again: it is confirmed with a new date, or goes. */
export const exceptionDaysMax = 180
const dayMs = 24 * 60 * 60 * 1000

/** Licences that ask for no more than a notice. */
const licences = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'Unlicense',
  'PostgreSQL',
])

/** Everything that is wrong with the lock file and the list of exceptions, each in a sentence. */
export function supplyChainMistakes({ lock, npmrc, exceptions, now }) {
  return [
    ...packagesOf(lock).flatMap((one) => lockMistakes(one)),
    ...packagesOf(lock).flatMap((one) => scriptMistakes(one, exceptions.installScripts)),
    ...packagesOf(lock).flatMap((one) => licenceMistakes(one, exceptions.licences)),
    ...npmrcMistakes(npmrc),
    ...exceptionMistakes(exceptions, lock, now),
  ]
}

function packagesOf(lock) {
  return Object.entries(lock.packages)
    .filter(([path]) => path !== '')
    .map(([path, entry]) => ({
      path,
      name: entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 13),
      ...entry,
    }))
}

function lockMistakes({ path, integrity, resolved, link }) {
  const mistakes = []
  if (link === true) mistakes.push(`${path} is a link, not a package`)
  else if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''))
    mistakes.push(`${path} has no sha512 to be checked by`)
  // Whoever installs asks the registry of their own; and a host written in could be anyone's.
  if (resolved !== undefined) mistakes.push(`${path} names the place it comes from: ${new URL(resolved).origin}`)
  return mistakes
}

function scriptMistakes({ path, name, hasInstallScript }, excepted) {
  if (hasInstallScript !== true || isExcepted(excepted, name)) return []
  return [`${path} has an install script; say in .ci/exceptions.json what it does, and why everything works without`]
}

function licenceMistakes({ path, name, license }, excepted) {
  if (isAllowed(license) || isExcepted(excepted, name)) return []
  return [`${path} has the licence ${license ?? '(none)'}, which is not among those allowed`]
}

/** `(MIT OR X)` is allowed by its better half; `MIT AND X` by both. */
function isAllowed(license) {
  if (typeof license !== 'string') return false
  const plain = license.replace(/^\((.*)\)$/, '$1').replace(/ \(https?:\S+\)$/, '')
  if (plain.includes(' OR ')) return plain.split(' OR ').some(isAllowed)
  return plain.split(' AND ').every((one) => licences.has(one))
}

function npmrcMistakes(npmrc) {
  const lines = npmrc.split('\n').map((line) => line.trim())
  const hosts = lines.filter((line) => /registry\s*=|\/\//.test(line))
  return hosts.map((line) => `.npmrc names a registry: ${line}`)
}

function exceptionMistakes(exceptions, lock, now) {
  const names = packagesOf(lock).map(({ name }) => name)
  return Object.entries(exceptions).flatMap(([kind, list]) =>
    list.flatMap(({ name, reason, addedAt }) => {
      const ageDays = (now.getTime() - Date.parse(addedAt)) / dayMs
      if (typeof reason !== 'string' || reason.length < 20) return [`${kind}: ${name} gives no reason`]
      if (!(ageDays <= exceptionDaysMax)) return [`${kind}: ${name} was listed ${addedAt}; look at it again`]
      if (kind !== 'advisories' && !names.some((one) => matches(name, one)))
        return [`${kind}: ${name} is not installed`]
      return []
    }),
  )
}

const isExcepted = (excepted, name) => excepted.some((one) => matches(one.name, name))
const matches = (pattern, name) => (pattern.endsWith('/*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name)

/** Advisories that npm reports and no one has listed, as sentences; `audit` is what `npm audit --json` printed. */
export function unlistedAdvisories(audit, exceptions) {
  const found = Object.values(audit.vulnerabilities ?? {}).flatMap(({ via }) =>
    via.filter((one) => typeof one === 'object'),
  )
  const unlisted = found.filter(({ url }) => !exceptions.advisories.some(({ name }) => url.endsWith(name)))
  return [...new Set(unlisted.map(({ severity, name, title, url }) => `${severity}: ${name}: ${title} (${url})`))]
}

/** A CycloneDX 1.5 bill of materials of what runs in production, on every platform; `all` adds what development needs. */
export function billOfMaterials(lock, { all = false } = {}) {
  const root = lock.packages['']
  const rootRef = `${root.name ?? lock.name}@${root.version}`
  const found = packagesOf(lock).filter(({ dev }) => all || dev !== true)
  const refs = new Map(found.map((one) => [one.path, `${one.name}@${one.version}`]))
  const components = new Map(found.map((one) => [refs.get(one.path), componentOf(one, refs.get(one.path))]))
  const needs = (path, entry) =>
    Object.keys({
      ...entry.dependencies,
      ...entry.optionalDependencies,
      ...(path === '' && all ? entry.devDependencies : {}),
    })
      .map((name) =>
        placesOf(path, name)
          .map((place) => refs.get(place))
          .find((ref) => ref !== undefined),
      )
      .filter((ref) => ref !== undefined)
  const dependencies = new Map([[rootRef, new Set(needs('', root))]])
  for (const one of found) {
    const ref = refs.get(one.path)
    dependencies.set(ref, new Set([...(dependencies.get(ref) ?? []), ...needs(one.path, one)]))
  }
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': rootRef,
        name: root.name ?? lock.name,
        version: root.version,
        licenses: licencesOf(root.license),
      },
    },
    components: [...components.values()].sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1)),
    dependencies: [...dependencies]
      .map(([ref, on]) => ({ ref, dependsOn: [...on].sort() }))
      .sort((a, b) => (a.ref < b.ref ? -1 : 1)),
  }
}

function componentOf({ name, version, integrity, license, optional, dev }, ref) {
  const [algorithm, digest] = integrity.split('-')
  return {
    type: 'library',
    'bom-ref': ref,
    name,
    version,
    scope: dev === true ? 'excluded' : optional === true ? 'optional' : 'required',
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    hashes: [{ alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') }],
    ...(license === undefined ? {} : { licenses: licencesOf(license) }),
  }
}

const licencesOf = (license) =>
  licences.has(license) ? [{ license: { id: license } }] : [{ license: { name: license } }]

/** Where Node would look for a package, the nearest first. */
function placesOf(path, name) {
  const parts = path === '' ? [] : path.split('/node_modules/')
  const folders = parts.map((_, index) => `${parts.slice(0, parts.length - index).join('/node_modules/')}/`)
  return [...folders, ''].map((folder) => `${folder}node_modules/${name}`)
}

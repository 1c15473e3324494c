// HTTPS_PROXY, HTTP_PROXY and NO_PROXY: which calls go by a proxy.
import { isIP } from 'node:net'

/** A host name, perhaps with a dot or a star before it. */
const hostPattern = /^(\*?\.)?(?!-)[a-z0-9_-][a-z0-9._-]{0,252}$/i

/** No part of the value is repeated: any of it may be the password, in the wrong place. */
export function proxyUrl(value: string): string {
  // Many write it without the scheme, as curl lets them.
  const given = value.includes('://') ? value : `http://${value}`
  const example = 'must be a URL such as http://user:password@proxy.example.com:3128'
  if (!/^https?:\/\//i.test(given) || !URL.canParse(given)) throw new Error(example)
  const { hostname, pathname, search, hash, username, password } = new URL(given)
  if (hostname === '' || pathname !== '/' || search !== '' || hash !== '') throw new Error(example)
  if (/%(?![0-9a-f]{2})/i.test(username + password)) {
    throw new Error('must write each % in its user name and password as %25')
  }
  if (/%(0[0-9a-f]|1[0-9a-f]|7f)/i.test(username + password)) {
    throw new Error('must have no control characters in its user name and password')
  }
  return given
}

export function noProxy(value: string): readonly string[] {
  const entries = value.split(/[\s,]+/).filter((entry) => entry !== '')
  for (const entry of entries) {
    if (entry !== '*' && !isPlace(withoutPort(entry))) {
      throw new Error(`must list hosts, .suffixes, addresses, networks such as 10.1.0.0/16, or *, not "${entry}"`)
    }
  }
  return entries
}

function isPlace(place: string): boolean {
  const [address = '', bits, ...rest] = place.split('/')
  const family = isIP(bits === undefined ? address.replace(/^\[(.*)\]$/, '$1') : address)
  if (family === 0) return bits === undefined && hostPattern.test(place)
  if (rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

/** `host:443` and `[::1]:443`, but not the last group of an address of version 6. */
function withoutPort(entry: string): string {
  return isIP(entry) === 6 ? entry : entry.replace(/:\d{1,5}$/, '')
}

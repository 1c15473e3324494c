// Lists of hosts that an address may name: a name, or `*.name` for every name within it, with a port where it is not the usual one.

/** As they are written down. */
export const hostNamePattern =
  '^(\\*\\.)?([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)*[A-Za-z0-9-]{1,63}(:[0-9]{1,5})?$'

/** Whether an https address is on one of the hosts. */
export function isOnHost(address: URL, hosts: readonly string[]): boolean {
  if (address.protocol !== 'https:') return false
  return hosts.some((given) => {
    const [name = '', port = ''] = given.toLowerCase().split(':')
    if (address.port !== (port === '443' ? '' : port)) return false
    return name.startsWith('*.') ? address.hostname.endsWith(name.slice(1)) : address.hostname === name
  })
}

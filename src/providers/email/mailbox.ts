// An address with its display name, as one text.

/** Characters that would end a name, or begin something else, if it were not quoted (RFC 5322). */
const special = /[()<>[\]:;@\\,."]/

/** `Ada Lovelace <ada@example.com>`, the name in quotes where it needs them; the address alone without a name. */
export function mailbox(address: string, name = ''): string {
  if (name.trim() === '') return address
  return special.test(name) ? `"${name.replace(/["\\]/g, '\\$&')}" <${address}>` : `${name} <${address}>`
}

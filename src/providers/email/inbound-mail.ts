// Parts of a mail that a vendor forwards: addresses, headers, files.
import { ofEmailAddress } from '../form.ts'
import type { InboundMail } from '../inbound/receipt.ts'
import type { FormField } from './inbound-form.ts'

type Headers = InboundMail['headers']

/** The addresses of a header such as `Zoë <zoe@example.org>, yan@example.org`, each once. */
export function addressesIn(...headers: readonly string[]): string[] {
  const found = headers.flatMap((header) => header.split(/[\s<>(),;:"]+/))
  return [...new Set(found.filter((part) => ofEmailAddress(part) === undefined))]
}

/** The address of a `From` header. A name may look like an address too, and precedes it. */
export function senderIn(...headers: readonly string[]): string {
  for (const header of headers) {
    const address = addressesIn(header).at(-1)
    if (address !== undefined) return address
  }
  return ''
}

/** Headers as they arrived, with folded lines joined again. */
export function headersIn(block: string): Headers {
  const lines = block.replaceAll(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)
  return headersOf(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return colon === -1 ? ['', ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
    }),
  )
}

/** From names and values; the first of each name counts, as it is the one that was added last on the way. */
export function headersOf(entries: readonly (readonly [string, string])[]): Headers {
  const named = entries.filter(([name]) => name !== '')
  return Object.fromEntries(named.toReversed())
}

function headerOf(headers: Headers, name: string): string | undefined {
  return Object.entries(headers).find(([other]) => other.toLowerCase() === name.toLowerCase())?.[1]
}

/** `<id@host>` without its brackets, as vendors report it. */
export function bareId(id: string): string {
  return id.trim().replace(/^</, '').replace(/>$/, '')
}

/** The ids of a mail and of the one it replies to. */
export function idsIn(headers: Headers): Pick<InboundMail, 'messageId' | 'inReplyTo'> {
  const messageId = bareId(headerOf(headers, 'message-id') ?? '')
  // Some programs name more than one.
  const [inReplyTo = ''] = (headerOf(headers, 'in-reply-to') ?? '').trim().split(/\s+/)
  return {
    ...(messageId === '' ? {} : { messageId }),
    ...(inReplyTo === '' ? {} : { inReplyTo: bareId(inReplyTo) }),
  }
}

/** Every file of a form, in base64. */
export function filesIn(form: readonly FormField[]): InboundMail['attachments'] {
  return form.flatMap(({ filename, mime, bytes }) =>
    filename === undefined ? [] : [{ name: filename, mime, content: bytes.toString('base64') }],
  )
}

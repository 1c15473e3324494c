// Whether a call from outside is the vendor's, and what it holds.
import type { Credentials } from '../../domain/delivery/integration.ts'
import { rawBytesMax } from '../../domain/insight/execution-detail.ts'
import type { Provider } from '../provider.ts'
import { isSame } from '../signing/signing.ts'
import { providerMessageIdBytesMax, storable, storableValue } from '../words.ts'
import type { InboundCall, InboundMail, Proof, Receipt } from './receipt.ts'

/** What may be in the address as the key, for a vendor that cannot send headers. */
const keyParameters = ['token', 'key']

/**
 * The vendor's own signature where it has one; else the integration's key, as Basic (user name or password), Bearer or a
 * parameter of the address. A call that makes the check itself fail is not trusted.
 */
export async function isBelieved(
  reader: { verify?(call: InboundCall, proof: Proof<never>): boolean | Promise<boolean> },
  call: InboundCall,
  proof: Proof<Credentials>,
): Promise<boolean> {
  if (reader.verify === undefined) return carriesKey(call, proof.key)
  try {
    return await reader.verify(call, proof as Proof<never>)
  } catch {
    return false
  }
}

export function carriesKey({ headers, query }: InboundCall, key: string | undefined): boolean {
  if (key === undefined || key === '') return false
  const { authorization = '' } = headers
  const [scheme = '', value = ''] = authorization.split(' ')
  const given: string[] = []
  if (scheme.toLowerCase() === 'bearer') given.push(value)
  if (scheme.toLowerCase() === 'basic') given.push(...basicWords(value))
  for (const name of keyParameters) given.push(...query.getAll(name))
  return given.some((one) => isSame(one, key))
}

/** User name, password, and both as they were written: the key may be any of them. */
function basicWords(value: string): string[] {
  const both = Buffer.from(value, 'base64').toString('utf8')
  const colon = both.indexOf(':')
  return colon === -1 ? [both] : [both, both.slice(0, colon), both.slice(colon + 1)]
}

/** What a call reports; one that cannot be read reports nothing. */
export function receiptsIn(provider: Provider, call: InboundCall): readonly Receipt[] {
  try {
    const rows = new Map<unknown, unknown>()
    return (provider.receipts?.read(call) ?? []).map((receipt) => {
      const { row, ...rest } = receipt
      // The reports of one event share it, and there may be as many as it names people.
      if (!rows.has(row)) rows.set(row, shownRow(row, call))
      return bounded({ ...storableValue(rest), row: rows.get(row) })
    })
  } catch {
    return []
  }
}

/** No vendor's are longer; they become part of the message's row, which must not grow with external input. */
const addressBytesMax = 1_000
const wordsBytesMax = 4_000

function bounded(receipt: Receipt): Receipt {
  const { providerMessageId, address, words } = receipt
  return {
    ...receipt,
    // As sending kept it, or it would not be found.
    ...(providerMessageId === undefined
      ? {}
      : { providerMessageId: storable(providerMessageId, providerMessageIdBytesMax) }),
    ...(address === undefined ? {} : { address: storable(address, addressBytesMax) }),
    ...(words === undefined ? {} : { words: storable(words, wordsBytesMax) }),
  }
}

/** Of the report itself, no more than is shown of it. */
function shownRow(row: unknown, call: InboundCall): unknown {
  const clean = storableValue(withoutKey(row, call))
  const text = JSON.stringify(clean) ?? ''
  return text.length <= rawBytesMax ? clean : storable(text, rawBytesMax)
}

/** A vendor that calls by GET reports in the URL, which may contain our key too. */
function withoutKey(row: unknown, { query }: InboundCall): unknown {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return row
  const given = Object.entries(row).filter(
    ([name, value]) => !(keyParameters.includes(name) && query.get(name) === value),
  )
  return Object.fromEntries(given)
}

export async function mailIn(provider: Provider, call: InboundCall): Promise<InboundMail | undefined> {
  try {
    return await provider.replies?.read(call)
  } catch {
    return undefined
  }
}

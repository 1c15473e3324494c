// Calls whose body is signed as it is: its HMAC-SHA256 in hexadecimal digits, in a header.
import type { InboundCall } from '../inbound/receipt.ts'
import { hmac, isSame } from './signing.ts'

export function hasSignedBody({ headers, body }: InboundCall, header: string, key: string | undefined): boolean {
  if (key === undefined || key === '') return false
  return isSame(headers[header]?.toLowerCase() ?? '', hmac('sha256', key, body).toString('hex'))
}

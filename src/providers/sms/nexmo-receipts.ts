// Vonage's delivery receipts: whether they are Vonage's, and what they report.
// https://developer.vonage.com/en/getting-started/concepts/signing-messages
import { createHash } from 'node:crypto'
import { receiptOf } from '../inbound/delivery-report.ts'
import { carriesKey } from '../inbound/inbound.ts'
import { isShort, jsonOf } from '../inbound/inbound-body.ts'
import type { InboundCall, Proof, Receipt, ReceiptReader, ReceiptStatus } from '../inbound/receipt.ts'
import type { Reading } from '../reading.ts'
import { hmac, isRecent, isSame } from '../signing/signing.ts'
import { reportForm, utcTimestampOf } from './report-form.ts'

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['delivered', 'delivered'],
  ['failed', 'failed'],
  ['rejected', 'failed'],
  ['expired', 'failed'],
  ['accepted', 'sent'],
  ['buffered', 'queued'],
])

export const nexmoReceipts: ReceiptReader<unknown> = {
  setUp:
    'In the Vonage dashboard, set the webhook URL of this integration for delivery receipts. If signed webhooks are enabled, the signing key is the signature secret of the account, with any of Vonage’s methods; otherwise put the key into the URL as `?token=…`.',
  verify,
  read,
}

function verify(call: InboundCall, { key, world }: Proof<unknown>): boolean {
  if (!isShort(call)) return false
  const parameters = parametersOf(call)
  const { sig = '', timestamp } = parameters
  if (sig === '') return carriesKey(call, key)
  if (key === undefined || key === '' || !isRecent(timestamp, world.now())) return false
  return signaturesOf(parameters, key, sig.length).some((expected) => isSame(sig.toLowerCase(), expected))
}

/** What the signature may be, by its length: the method is a setting of the account. */
function signaturesOf(parameters: Readonly<Record<string, string>>, key: string, length: number): string[] {
  const text = Object.keys(parameters)
    .filter((name) => name !== 'sig')
    .toSorted()
    .map((name) => `&${name}=${parameters[name]?.replaceAll(/[&=]/g, '_')}`)
    .join('')
  const algorithm = ({ 32: 'md5', 40: 'sha1', 64: 'sha256', 128: 'sha512' } as const)[length]
  if (algorithm === undefined) return []
  const keyed = hmac(algorithm, key, text).toString('hex')
  return algorithm === 'md5' ? [keyed, createHash('md5').update(`${text}${key}`).digest('hex')] : [keyed]
}

function parametersOf(call: InboundCall): Record<string, string> {
  const whole = reportOf(call).value('')
  const entries = typeof whole === 'object' && whole !== null ? Object.entries(whole) : []
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
}

/** A query, a form or JSON, as the account is set up. */
function reportOf(call: InboundCall): Reading {
  return /json/i.test(call.headers['content-type'] ?? '') ? jsonOf(call) : reportForm(call)
}

function read(call: InboundCall): readonly Receipt[] {
  const report = reportOf(call)
  const status = report.string('status') ?? ''
  const known = statuses.get(status)
  const code = report.id('err-code')
  return receiptOf({
    status: known,
    reference: report.string('client-ref'),
    providerMessageId: report.id('messageId'),
    address: report.id('msisdn'),
    at: utcTimestampOf(report.string('message-timestamp')),
    words: known === 'failed' ? `${status}${code === undefined ? '' : ` (${code})`}` : undefined,
    row: report.value(''),
  })
}

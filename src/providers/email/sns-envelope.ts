// Amazon SNS: the envelope in which Amazon posts events, and whether Amazon signed it.
// https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
import { verify, X509Certificate } from 'node:crypto'
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { World } from '../../world/world.ts'
import { carriesKey } from '../inbound/inbound.ts'
import { isShort, jsonOf } from '../inbound/inbound-body.ts'
import type { InboundCall } from '../inbound/receipt.ts'
import type { Reading } from '../reading.ts'
import { isSame } from '../signing/signing.ts'

/**
 * Certificates and confirmations come only from Amazon; anything else would let the sender choose whom we trust. What
 * follows `sns` is a region: `sns.s3.amazonaws.com` would be a bucket of that name, with whatever its owner puts there.
 */
const snsHost = /^sns\.[a-z]{2,8}(?:-[a-z]{2,20}){1,3}-\d{1,2}\.amazonaws\.com(\.cn)?$/
const certificatePath = /^\/SimpleNotificationService-[0-9a-f]{1,64}\.pem$/
/** Amazon retries for at most an hour; anything much older may be replayed by an eavesdropper. */
const replayWindowMs = 7_200_000
/** One per region, and a new one every year or so. */
const certificatesMax = 50
const fetchTimeoutMs = 5_000

const signedMembers = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const
type EnvelopeType = keyof typeof signedMembers

interface SnsProof {
  /** The ARN of the topic, or a key that the address carries. */
  readonly key: string | undefined
  readonly world: World
}

export function typeOfEnvelope(call: InboundCall): EnvelopeType | undefined {
  if (!isShort(call)) return undefined
  const type = jsonOf(call).string('Type') ?? ''
  return Object.hasOwn(signedMembers, type) ? (type as EnvelopeType) : undefined
}

/**
 * Whether Amazon signed it, recently, for our topic. Amazon signs for all its customers, so a signature alone proves
 * nothing.
 */
export async function isOurEnvelope(call: InboundCall, { key, world }: SnsProof): Promise<boolean> {
  const type = typeOfEnvelope(call)
  if (type === undefined) return false
  const envelope = jsonOf(call)
  if (!isOurTopic(call, envelope, key) || !isRecent(envelope, world.now())) return false
  const certificate = await certificateAt(envelope.string('SigningCertURL') ?? '', world)
  if (certificate === undefined) return false
  const algorithm = { '1': 'RSA-SHA1', '2': 'RSA-SHA256' }[envelope.id('SignatureVersion') ?? '']
  if (algorithm === undefined) return false
  const signed = signedMembers[type]
    .flatMap((name) => {
      const value = envelope.string(name)
      return value === undefined ? [] : [`${name}\n${value}\n`]
    })
    .join('')
  const signature = Buffer.from(envelope.string('Signature') ?? '', 'base64')
  return verify(algorithm, Buffer.from(signed), certificate.publicKey, signature)
}

/** Confirms to Amazon that it may post here; returns whether Amazon received that. */
export async function confirmSubscription(call: InboundCall, world: World): Promise<boolean> {
  const url = jsonOf(call).string('SubscribeURL') ?? ''
  if (!isOfSns(url)) return false
  const { status } = await world.fetch({ url, method: 'GET', headers: {} }, { timeoutMs: fetchTimeoutMs })
  return status >= 200 && status < 300
}

function isOurTopic(call: InboundCall, envelope: Reading, key = ''): boolean {
  return key.startsWith('arn:') ? isSame(envelope.string('TopicArn') ?? '', key) : carriesKey(call, key)
}

function isRecent(envelope: Reading, now: Date): boolean {
  return Math.abs(now.getTime() - Date.parse(envelope.string('Timestamp') ?? '')) <= replayWindowMs
}

function isOfSns(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, host, username, password } = new URL(address)
  return protocol === 'https:' && snsHost.test(host) && username === '' && password === ''
}

/** By address: Amazon never changes the content of one. */
const certificates = new WeakMap<World, Map<string, X509Certificate>>()

async function certificateAt(url: string, world: World): Promise<X509Certificate | undefined> {
  if (!isOfSns(url) || !certificatePath.test(new URL(url).pathname)) return undefined
  const known = certificates.get(world) ?? new BoundedMap<string, X509Certificate>(certificatesMax)
  certificates.set(world, known)
  const kept = known.get(url)
  if (kept !== undefined) return kept
  const { status, body } = await world.fetch({ url, method: 'GET', headers: {} }, { timeoutMs: fetchTimeoutMs })
  if (status !== 200) return undefined
  const certificate = new X509Certificate(body)
  known.set(url, certificate)
  return certificate
}

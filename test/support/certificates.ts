// Certificates of our own making, written manually in DER (RFC 5280): no program beside Node is needed for them.
import type { KeyObject } from 'node:crypto'
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

export interface Certificate {
  readonly key: KeyObject
  /** In PEM. */
  readonly certificate: string
  readonly name: string
}

const ecdsaWithSha256 = '06082a8648ce3d040302'
const rsaWithSha256 = '06092a864886f70d01010b0500'
const oids = { commonName: '0603550403', alternativeNames: '0603551d11', basicConstraints: '0603551d13' }

/** An authority that signs others; two of one name would be taken for each other. */
export function makeAuthority(name = `Authority ${randomBytes(8).toString('hex')}`): Certificate {
  return make({
    name,
    kind: 'ec',
    extensions: [extension(oids.basicConstraints, der(0x30, der(0x01, bytes(0xff))), true)],
  })
}

/** One for a server of these names and addresses. */
export function makeServerCertificate(authority: Certificate, names: readonly string[]): Certificate {
  const listed = names.map((name) =>
    isIPv4(name) ? der(0x87, bytes(...name.split('.').map(Number))) : der(0x82, Buffer.from(name)),
  )
  return make({
    name: 'server',
    kind: 'ec',
    signer: authority,
    extensions: [extension(oids.alternativeNames, der(0x30, ...listed))],
  })
}

/** One that vouches for itself, with an RSA key, as vendors have that sign what they send. */
export function selfSigned(name: string): Certificate {
  return make({ name, kind: 'rsa', extensions: [] })
}

export const keyInPem = ({ key }: Certificate): string => String(key.export({ type: 'pkcs8', format: 'pem' }))

interface Wanted {
  readonly name: string
  readonly kind: 'ec' | 'rsa'
  readonly extensions: readonly Buffer[]
  /** Itself, unless there is another. */
  readonly signer?: Certificate
}

function make({ name, kind, extensions, signer }: Wanted): Certificate {
  const { privateKey, publicKey } =
    kind === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 })
  const signingKey = signer?.key ?? privateKey
  const algorithm = der(0x30, hex(signingKey.asymmetricKeyType === 'ec' ? ecdsaWithSha256 : rsaWithSha256))
  const reported = der(
    0x30,
    der(0xa0, der(0x02, bytes(2))),
    der(0x02, Buffer.concat([bytes(1), randomBytes(8)])),
    algorithm,
    nameOf(signer?.name ?? name),
    der(0x30, utcTime('250101000000Z'), utcTime('491231235959Z')),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length === 0 ? [] : [der(0xa3, der(0x30, ...extensions))]),
  )
  const signature = der(0x03, bytes(0), sign('sha256', reported, signingKey))
  const lines =
    der(0x30, reported, algorithm, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return {
    key: privateKey,
    name,
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  }
}

const nameOf = (name: string): Buffer =>
  der(0x30, der(0x31, der(0x30, hex(oids.commonName), der(0x0c, Buffer.from(name)))))

const extension = (oid: string, value: Buffer, isCritical = false): Buffer =>
  der(0x30, hex(oid), ...(isCritical ? [der(0x01, bytes(0xff))] : []), der(0x04, value))

const hex = (text: string): Buffer => Buffer.from(text, 'hex')
const bytes = (...values: number[]): Buffer => Buffer.from(values)
const utcTime = (text: string): Buffer => der(0x17, Buffer.from(text))

function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content)
  if (body.length < 0x80) return Buffer.concat([bytes(tag, body.length), body])
  const length = body.length < 0x100 ? bytes(0x81, body.length) : bytes(0x82, body.length >> 8, body.length & 0xff)
  return Buffer.concat([bytes(tag), length, body])
}

// What outbound TLS trusts: what Node trusts, and the certificates of the operator's own authorities.
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { SecureContext } from 'node:tls'
import { createSecureContext } from 'node:tls'

const certificateBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
/** All authorities that browsers trust are a quarter of it. */
const fileBytesMax = 1024 * 1024
const named = ' POSTHORN_CA_FILE or NODE_EXTRA_CA_CERTS refers to it.'

/** The certificates of all the files together; `undefined` without files. Throws a sentence that names the file and where it is named. */
export async function readCaFiles(files: readonly string[]): Promise<string | undefined> {
  if (files.length === 0) return undefined
  const texts = await Promise.all(files.map(readCaFile))
  return texts.join('\n')
}

async function readCaFile(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new Error(`The certificates in ${file} cannot be read: ${error.message}.${named}`)
  })
  if (text.length > fileBytesMax)
    throw new Error(`The certificates in ${file} are more than ${fileBytesMax} bytes.${named}`)
  try {
    return certificatesIn(text).join('\n')
  } catch (error) {
    throw new Error(`The certificates in ${file} cannot be used: ${(error as Error).message}.${named}`)
  }
}

function certificatesIn(pem: string): string[] {
  const blocks = pem.match(certificateBlock) ?? []
  if (blocks.length === 0) throw new Error('it contains no PEM certificate')
  for (const block of blocks) new X509Certificate(block)
  return blocks
}

/**
 * The `ca` option of TLS would replace the certificates that Node trusts (its own, or the system's with
 * `--use-openssl-ca`), and read all of them again for every connection. So these are added to a context that has those,
 * and which all connections share.
 */
export function trusting(pem: string): SecureContext {
  const trust = createSecureContext()
  for (const certificate of certificatesIn(pem)) trust.context.addCACert(certificate)
  return trust
}

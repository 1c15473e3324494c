// SMTP to a host the operator configured: the connection's settings, and a check that the host accepts our user name and password.
import { isIP } from 'node:net'
import SMTPConnection from 'nodemailer/lib/smtp-connection/index.js'
import { kindOfAddress } from '../../world/outbound/address.ts'
import { createAddressGuard, plainHost } from '../../world/outbound/address-guard.ts'
import type { World } from '../../world/world.ts'

export interface SmtpAccount {
  readonly host: string
  readonly port: string
  readonly user?: string
  readonly password?: string
  readonly secure?: boolean
  readonly requireTls?: boolean
  readonly ignoreTls?: boolean
  readonly tlsOptions?: Readonly<Record<string, unknown>>
  /** An OAuth access token, used instead of the password. */
  readonly token?: string
  /** Concurrent connections, if the server allows fewer than most. */
  readonly connectionsMax?: number
}

/** The credentials of a connection. */
type SmtpLogin = { readonly user: string; readonly pass: string } | { readonly user: string; readonly token: string }

const connectTimeoutMs = 5_000
/** Until the server's greeting; some delay it on purpose to detect spammers. */
const greetingTimeoutMs = 10_000
const silenceTimeoutMs = 10_000
/** As long as any call to a provider may take. */
const greetTimeoutMs = 20_000

/** What `tlsOptions` may set. Others, such as `host` or `path`, would lead the connection past the guard. */
const tlsOptionNames = [
  'rejectUnauthorized',
  'servername',
  'ca',
  'cert',
  'key',
  'passphrase',
  'minVersion',
  'maxVersion',
  'ciphers',
] as const

export type AddressesOf = NonNullable<World['accountAddresses']>

// Where the world does not vet them: an operator's address is reached unless it is a metadata address, which no list opens.
const guard = createAddressGuard([])
const anyAddress: AddressesOf = (host) => guard.addressesOf(host, 'operator')

/** What nodemailer needs to reach the account. Throws an OutboundError for a host that is unknown or not allowed. */
export async function smtpSettings(account: SmtpAccount, addressesOf: AddressesOf = anyAddress) {
  const [first] = await addressesOf(account.host, Number(account.port))
  const address = first?.address ?? account.host
  const auth = loginOf(account)
  return {
    // The address that was vetted, so that a second lookup cannot lead elsewhere.
    host: address,
    port: Number(account.port),
    secure: account.secure === true,
    requireTLS: account.requireTls === true || (auth !== undefined && mustHide(address, account)),
    ignoreTLS: account.ignoreTls === true,
    ...(isIP(plainHost(account.host)) === 0 ? { servername: account.host } : {}),
    tls: Object.fromEntries(
      tlsOptionNames.flatMap((name) =>
        account.tlsOptions?.[name] === undefined ? [] : [[name, account.tlsOptions[name]]],
      ),
    ),
    ...(auth === undefined ? {} : { auth }),
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: greetingTimeoutMs,
    socketTimeout: silenceTimeoutMs,
  }
}

function loginOf({ user = '', password = '', token = '' }: SmtpAccount): SmtpLogin | undefined {
  if (user === '') return undefined
  if (token !== '') return { user, token }
  return password === '' ? undefined : { user, pass: password }
}

/** Logs in with the best method the server offers, or with XOAUTH2 if there is a token. */
export function logIn(connection: SMTPConnection, login: SmtpLogin, done: (error?: Error | null) => void): void {
  if ('pass' in login) {
    connection.login({ credentials: login }, done)
    return
  }
  const { user, token } = login
  // nodemailer asks for a token where it needs one; its own source of them would call out for a fresh one.
  const oauth2 = {
    getToken: (_isRetry: boolean, take: (error: null, given: string) => void) => take(null, token),
    buildXOAuth2Token: (given: string) =>
      Buffer.from(`user=${user}\x01auth=Bearer ${given}\x01\x01`).toString('base64'),
  }
  connection.login({ oauth2 } as unknown as Parameters<SMTPConnection['login']>[0], done)
}

/** A password does not cross the internet unencrypted unless the operator says so. */
function mustHide(address: string, account: SmtpAccount): boolean {
  return account.ignoreTls !== true && account.secure !== true && kindOfAddress(address) === 'public'
}

/** Connects, greets, secures and authenticates, and leaves without sending. Throws what the server or the network said. */
export async function greetSmtp(
  account: SmtpAccount,
  timeoutMs = greetTimeoutMs,
  addressesOf?: AddressesOf,
): Promise<void> {
  const { auth, ...settings } = await smtpSettings(account, addressesOf)
  const connection = new SMTPConnection(settings)
  let timer: NodeJS.Timeout | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      // The socket's own timeout restarts with every byte, and a server may drip them forever.
      timer = setTimeout(() => reject(new Error('The server did not finish in time')), timeoutMs)
      connection.once('error', reject)
      connection.once('end', () => resolve())
      const leave = (error?: Error | null): void => (error ? reject(error) : connection.quit())
      connection.connect(() => (auth === undefined ? leave() : logIn(connection, auth, leave)))
    })
  } finally {
    clearTimeout(timer)
    connection.close()
  }
}

// POSTHORN_SMTP_URL: the operator's mail server in one line.

/** The operator's mail server, in the words of an integration's credentials. */
export interface OperatorMail {
  readonly host: string
  readonly port: string
  readonly from: string
  readonly senderName?: string
  readonly user?: string
  readonly password?: string
  readonly secure: boolean
  readonly requireTls?: true
  readonly ignoreTls?: true
  readonly tlsOptions?: { readonly rejectUnauthorized: false }
}

const smtpParameters = ['from', 'senderName', 'requireTls', 'ignoreTls', 'rejectUnauthorized']

/** No part of the value is repeated: any of it may be the password, in the wrong place. */
export function smtpUrl(value: string): OperatorMail {
  if (!/^smtps?:\/\//.test(value) || !URL.canParse(value)) {
    throw new Error('must be a URL such as smtp://user:password@host:587?from=hello@example.com')
  }
  const { protocol, username, password, hostname, port, pathname, hash, searchParams } = new URL(value)
  const decoded = (part: string): string => {
    if (/%(?![0-9a-f]{2})/i.test(part)) throw new Error('must write each % in its user name and password as %25')
    return decodeURIComponent(part)
  }
  const flag = (name: string): boolean => {
    const given = searchParams.get(name) ?? ''
    if (!['', 'true', 'false'].includes(given)) throw new Error(`must have ${name}=true or ${name}=false`)
    return given === 'true'
  }
  const from = searchParams.get('from') ?? ''
  const senderName = searchParams.get('senderName') ?? ''
  const unknown = [...searchParams.keys()].find((name) => !smtpParameters.includes(name))
  if (!/^(\[[\da-f:.]+\]|[\w.-]+)$/i.test(hostname)) throw new Error('must include the host of the mail server')
  if (!/^\/?$/.test(pathname) || hash !== '') throw new Error('must have only parameters after the host')
  if ((username === '') !== (password === '')) throw new Error('must have both a user and a password, or neither')
  if (!/^[^\s@<>()[\],;:\\"]+@[^\s@<>()[\],;:\\"]+$/.test(from))
    throw new Error('must have ?from= with an e-mail address')
  if (/\p{Cc}/u.test(senderName)) throw new Error('must have a senderName without line breaks')
  if (unknown !== undefined) throw new Error(`must not have parameters other than ${smtpParameters.join(', ')}`)
  if (flag('requireTls') && flag('ignoreTls')) throw new Error('must not have both requireTls and ignoreTls')
  const secure = protocol === 'smtps:'
  return {
    host: hostname,
    port: port === '' ? (secure ? '465' : '587') : port,
    from,
    secure,
    ...(senderName === '' ? {} : { senderName }),
    ...(username === '' ? {} : { user: decoded(username), password: decoded(password) }),
    ...(flag('requireTls') ? { requireTls: true } : {}),
    ...(flag('ignoreTls') ? { ignoreTls: true } : {}),
    ...(searchParams.has('rejectUnauthorized') && !flag('rejectUnauthorized')
      ? { tlsOptions: { rejectUnauthorized: false } }
      : {}),
  }
}

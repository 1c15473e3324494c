// An e-mail as it travels by SMTP: its headers and parts in MIME, signed with DKIM where the account has a key.
import { domainToASCII } from 'node:url'
import DKIM from 'nodemailer/lib/dkim/index.js'
import MailComposer from 'nodemailer/lib/mail-composer/index.js'
import { dispositionOf } from './email-body.ts'
import type { AddressedEmail } from './email-message.ts'
import { domainOf } from './email-message.ts'

export interface DkimKey {
  readonly domainName: string
  readonly keySelector: string
  readonly privateKey: string
}

/** Unsubscribing by one click counts only where both of its headers are signed (RFC 8058). */
const headerFieldNames = [
  ...['from', 'sender', 'reply-to', 'subject', 'date', 'message-id', 'to', 'cc', 'mime-version', 'content-type'],
  ...['content-transfer-encoding', 'in-reply-to', 'references', 'list-unsubscribe', 'list-unsubscribe-post'],
].join(':')

const signatureHeader = Buffer.from('DKIM-Signature:')

/** The same for every attempt at one message, so that a mailbox or a person can recognise a repeat. */
export function messageIdOf(email: AddressedEmail): string {
  return `<${email.id}@${domainOf(inAscii(email.from))}>`
}

/** An address as servers accept it: many do not support non-ASCII domains. */
export function inAscii(address: string): string {
  const domain = address.slice(address.lastIndexOf('@') + 1)
  if (/^[\x21-\x7e]*$/.test(domain)) return address
  return `${address.slice(0, -domain.length)}${domainToASCII(domain) || domain}`
}

/** Blind copies are not in it: they are for the envelope alone. */
export async function composed(email: AddressedEmail, now: Date): Promise<Buffer> {
  const composer = new MailComposer({
    messageId: messageIdOf(email),
    date: now,
    from: email.senderName === undefined ? email.from : { name: email.senderName, address: email.from },
    to: [...email.to],
    cc: [...email.cc],
    ...(email.replyTo === undefined ? {} : { replyTo: email.replyTo }),
    subject: email.subject,
    ...(email.text === '' ? {} : { text: email.text }),
    ...(email.html === '' ? {} : { html: email.html }),
    headers: { ...email.headers },
    attachments: email.attachments.map((attachment) => ({
      filename: attachment.name,
      contentType: attachment.mime,
      content: Buffer.from(attachment.content, 'base64'),
      ...(attachment.cid === undefined ? {} : { cid: attachment.cid }),
      contentDisposition: dispositionOf(attachment),
    })),
    // Nothing in a message may make us read a file or call an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return composer.compile().build()
}

/** Throws when the key cannot sign: nodemailer would silently send the message unsigned. */
export async function signed(raw: Buffer, key: DkimKey): Promise<Buffer> {
  const chunks: Buffer[] = []
  const dkim = new DKIM({ ...key, headerFieldNames })
  for await (const chunk of dkim.sign(raw) as AsyncIterable<Buffer>) chunks.push(chunk)
  const whole = Buffer.concat(chunks)
  if (!whole.subarray(0, signatureHeader.length).equals(signatureHeader))
    throw new Error('it is not a key that can sign')
  return whole
}

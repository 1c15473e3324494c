// Attachments in an event's payload: extracted, decoded, and checked.
import { Type } from 'typebox'
import type { EventAttachment } from '../../domain/delivery/event.ts'
import { attachmentsBytesMax, attachmentsPerEventMax } from '../../domain/delivery/event.ts'
import { channels } from '../../domain/delivery/integration.ts'
import { literals } from '../schemas.ts'
import { Mistakes } from './mistakes.ts'
import { elementCheck } from './validator.ts'

type Payload = Readonly<Record<string, unknown>>

/** As mail is sent with it, so that nothing is accepted that cannot go out. */
const mimePattern = '^[\\w.+-]{1,100}/[\\w.+-]{1,100}(; ?[\\w.+-]{1,50}=("[^"\\p{Cc}]{0,200}"|[\\w.+-]{1,200})){0,5}$'

const checkAttachment = elementCheck(
  Type.Object({
    file: Type.Unsafe<unknown>({ type: ['string', 'object'] }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 255, pattern: '^[^\\p{Cc}/\\\\]+$' })),
    mime: Type.Optional(Type.String({ minLength: 3, maxLength: 255, pattern: mimePattern })),
    channels: Type.Optional(Type.Array(literals(channels), { maxItems: channels.length })),
    cid: Type.Optional(Type.String({ minLength: 1, maxLength: 255, pattern: '^[\\w.@+-]+$' })),
    disposition: Type.Optional(literals(['attachment', 'inline'])),
  }),
)

interface GivenAttachment {
  readonly file: unknown
  readonly name?: string
  readonly mime?: string
  readonly channels?: string[]
  readonly cid?: string
  readonly disposition?: 'attachment' | 'inline'
}

/** The payload without the files' contents, and the files. */
export function readAttachments(
  payload: Payload,
): { payload: Payload; attachments: readonly EventAttachment[] } | Mistakes {
  const given = payload['attachments']
  // A member of that name that holds no files is the caller's own.
  if (!Array.isArray(given) || !given.some(hasFile)) return { payload, attachments: [] }
  if (given.length > attachmentsPerEventMax) {
    return new Mistakes([`attachments: at most ${attachmentsPerEventMax} files are allowed`])
  }
  const attachments: EventAttachment[] = []
  const mistakes: string[] = []
  for (const [index, one] of given.entries()) {
    const read = readAttachment(one, index)
    if (typeof read === 'string') mistakes.push(`attachments.${index}: ${read}`)
    else attachments.push(read)
  }
  const bytes = attachments.reduce((sum, one) => sum + one.content.length, 0)
  if (bytes > attachmentsBytesMax) {
    mistakes.push(`attachments: the files are ${bytes} bytes in total; at most ${attachmentsBytesMax} are allowed`)
  }
  if (mistakes.length > 0) return new Mistakes(mistakes)
  const shown = attachments.map(({ name, mime }) => ({ name, mime }))
  return { payload: { ...payload, attachments: shown }, attachments }
}

/** What counts towards an event's own size. */
export function withoutFiles<Event extends { readonly payload?: Payload }>(event: Event): Event {
  const given = event.payload?.['attachments']
  if (!Array.isArray(given) || !given.some(hasFile)) return event
  return { ...event, payload: { ...event.payload, attachments: given.map((one) => ({ ...one, file: '' })) } }
}

const hasFile = (value: unknown): boolean => typeof value === 'object' && value !== null && Object.hasOwn(value, 'file')

/** Undefined if it is not base64. Decoding skips invalid characters: a file of the expected size had none. */
function decoded(text: string): Buffer | undefined {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const length = text.length - padding
  // One letter too many decodes to nothing, and so does one that is wrong.
  if (length % 4 === 1) return base64.test(text) ? Buffer.from(text, 'base64') : undefined
  // Of letters beyond Latin-1 the decoder sees the lower byte only, which may be a letter of base64.
  if (Buffer.byteLength(text) !== text.length) return undefined
  // Letters of base64url, which would be decoded as well.
  if (text.includes('-') || text.includes('_')) return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === Math.floor((length * 3) / 4) ? bytes : undefined
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/

function readAttachment(given: unknown, index: number): EventAttachment | string {
  const errors = checkAttachment(given)
  if (errors !== undefined)
    return Object.values(errors)
      .flatMap((error) => error.messages)
      .join('; ')
  const { file, name, mime, channels: wanted, cid, disposition } = given as GivenAttachment
  const content = contentOf(file)
  if (typeof content === 'string') return content
  return {
    name: name ?? `attachment-${index + 1}`,
    mime: mime ?? 'application/octet-stream',
    content,
    cid: cid ?? null,
    disposition: disposition ?? null,
    channels: wanted ?? null,
  }
}

/** Base64, or what Node's buffers become as JSON. */
function contentOf(file: unknown): Buffer | string {
  if (typeof file === 'string') {
    const given = file.startsWith('data:') ? file.replace(/^data:[^,]{0,200};base64,/, '') : file
    const hasBreaks = given.includes('\n') || given.includes('\r')
    const plain = hasBreaks ? given.replace(/[\r\n]+/g, '') : given
    return decoded(plain) ?? 'file must be base64'
  }
  const { type, data } = file as { type?: unknown; data?: unknown }
  const bytes = type === 'Buffer' && Array.isArray(data) ? bytesOf(data) : undefined
  return bytes ?? 'file must be base64, or a Buffer as JSON'
}

function bytesOf(data: readonly unknown[]): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(data.length)
  for (let at = 0; at < data.length; at += 1) {
    const value = data[at] as number
    // Written as a byte it is another number, unless it is one.
    bytes[at] = value
    if (bytes[at] !== value) return undefined
  }
  return bytes
}

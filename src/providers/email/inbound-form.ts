// A form with files as vendors post it, read more leniently than RFC 7578: a file's name may be non-ASCII in any encoding.
import { formFieldsOf } from '../inbound/inbound-body.ts'
import type { InboundCall } from '../inbound/receipt.ts'

export interface FormField {
  readonly name: string
  /** Of a file. */
  readonly filename?: string
  readonly mime: string
  readonly bytes: Buffer
}

/** A mail has some tens of fields and files; a body of nothing but boundaries is not a mail. */
const fieldsMax = 1_000

/** The fields in their order; none if the body is not a form. */
export function fieldsOf({ headers, body }: Pick<InboundCall, 'headers' | 'body'>): readonly FormField[] {
  const type = headers['content-type'] ?? ''
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) {
    const pairs = [...formFieldsOf({ body })]
    return pairs.map(([name, value]) => ({ name, mime: 'text/plain', bytes: Buffer.from(value) }))
  }
  const [, quoted, plain] =
    /^multipart\/form-data\b.*;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(type) ?? []
  const boundary = quoted ?? plain
  return boundary === undefined ? [] : partsOf(body, `--${boundary}`).flatMap(fieldOf)
}

/** What is between one boundary and the next; the last is followed by `--`. */
function partsOf(body: Buffer, boundary: string): Buffer[] {
  const parts: Buffer[] = []
  let start = body.indexOf(boundary)
  while (start !== -1 && parts.length < fieldsMax) {
    const from = start + boundary.length
    const to = body.indexOf(`\r\n${boundary}`, from)
    if (to === -1 || body.subarray(from, from + 2).toString('latin1') === '--') break
    parts.push(body.subarray(from, to))
    start = to + 2
  }
  return parts
}

function fieldOf(part: Buffer): FormField[] {
  const end = part.indexOf('\r\n\r\n')
  if (end === -1) return []
  const lines = part.subarray(0, end).toString('utf8').split('\r\n')
  const header = (name: string): string =>
    lines
      .find((line) => line.toLowerCase().startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim() ?? ''
  const disposition = header('content-disposition')
  const name = parameterOf(disposition, 'name')
  if (name === undefined) return []
  const filename = encodedParameterOf(disposition, 'filename') ?? parameterOf(disposition, 'filename')
  const mime = header('content-type').split(';')[0]?.trim() ?? ''
  return [
    {
      name,
      ...(filename === undefined ? {} : { filename }),
      mime: mime === '' ? 'application/octet-stream' : mime,
      bytes: part.subarray(end + 4),
    },
  ]
}

/** `name="value"` or `name=value`; browsers write a quotation mark within as `%22`. */
function parameterOf(header: string, name: string): string | undefined {
  const [, quoted, plain] = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]+))`, 'i').exec(header) ?? []
  return quoted?.replaceAll(/\\(["\\])/g, '$1').replaceAll('%22', '"') ?? plain
}

/** `name*=utf-8''value`, as in RFC 5987. */
function encodedParameterOf(header: string, name: string): string | undefined {
  const [, value] = new RegExp(`;\\s*${name}\\*=utf-8'[^';]*'([^\\s;]+)`, 'i').exec(header) ?? []
  try {
    return value === undefined ? undefined : decodeURIComponent(value)
  } catch {
    return undefined
  }
}

export function bytesIn(form: readonly FormField[], name: string): Buffer | undefined {
  return form.find((field) => field.name === name && field.filename === undefined)?.bytes
}

/** A field as text; empty if there is none. */
export function textIn(form: readonly FormField[], name: string): string {
  return bytesIn(form, name)?.toString('utf8') ?? ''
}

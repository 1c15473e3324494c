// A form with files, as RFC 7578 writes it. The boundary is given, so that a repeat is the same to the last byte.

export interface FormPart {
  readonly name: string
  readonly value: string | Buffer
  readonly filename?: string
  readonly contentType?: string
}

/** The body, and the content type with its boundary. */
export function multipart(parts: readonly FormPart[], boundary: string): { body: Buffer; contentType: string } {
  const chunks = parts.flatMap(({ name, value, filename, contentType }) => [
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"` +
        `${filename === undefined ? '' : `; filename="${quoted(filename)}"`}\r\n` +
        `${contentType === undefined ? '' : `Content-Type: ${contentType}\r\n`}\r\n`,
    ),
    typeof value === 'string' ? Buffer.from(value) : value,
    Buffer.from('\r\n'),
  ])
  return {
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
    contentType: `multipart/form-data; boundary=${boundary}`,
  }
}

/** As browsers write names: quotes and line breaks as percent codes. */
const quoted = (text: string): string => text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

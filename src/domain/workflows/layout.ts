// A layout: the frame around e-mails of an environment, with a slot for the body.
import type { EmailLayout, EmailLayouts } from './rendering.ts'

export interface Layout {
  readonly _id: string
  readonly _organizationId: string
  readonly _environmentId: string
  readonly _creatorId: string
  readonly identifier: string
  readonly name: string
  readonly description: string
  readonly channel: 'email'
  readonly content: string
  readonly contentType: 'customHtml'
  readonly isDefault: boolean
  readonly isDeleted: boolean
  readonly createdAt: string
  readonly updatedAt: string
}

export interface LayoutFields {
  readonly identifier: string
  readonly name: string
  readonly description: string
  readonly content: string
  readonly isDefault: boolean
}

/** Mailboxes cut a whole message there. */
export const layoutLengthMax = 100_000
/** A node's cache of an environment's layouts is bounded by this and their length. */
export const layoutsMax = 100

/**
 * Layouts as they are applied to e-mails. A change updates `updatedAt`, so id and timestamp identify a content
 * permanently.
 */
export function emailLayoutsOf(all: readonly Layout[]): EmailLayouts {
  const byIdentifier = new Map<string, EmailLayout>()
  let standard: EmailLayout | undefined
  for (const { _id, identifier, content, updatedAt, isDefault } of all) {
    const one = { _id, identifier, content, key: `${_id}/${updatedAt}` }
    byIdentifier.set(identifier, one)
    if (isDefault) standard = one
  }
  const byId = new Map([...byIdentifier.values()].map((one) => [one._id, one]))
  return { find: (name) => byId.get(name) ?? byIdentifier.get(name), standard }
}

/** The content of new layouts: one column, like the built-in one. */
export const starterLayout = `<!DOCTYPE html>
<html lang="{{ lang }}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{{ subject }}</title>
</head>
<body style="margin:0;padding:24px 12px;background-color:#f4f5f7;font-family:Helvetica,Arial,sans-serif">
<table role="presentation" align="center" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px;background-color:#ffffff;border-radius:8px">
<tr>
<td style="padding:32px 28px;font-size:16px;line-height:1.5;color:#1f2933">
{{{ body }}}
</td>
</tr>
</table>
</body>
</html>
`

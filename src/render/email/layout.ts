// The default layout of e-mails: one column of tables with inline styles, which every mail program shows the same way.
import { escapeHtml } from '../values.ts'

const font = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const rightToLeft = /^(?:ar|arc|ckb|dv|fa|ha|he|khw|ks|ps|sd|ur|yi)(?:[-_]|$)/i

/** Shown beside the subject in lists of messages, nowhere else. */
export function hiddenPreheader(preheader: string): string {
  if (preheader === '') return ''
  const style = 'display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;mso-hide:all'
  return `<div style="${style}" aria-hidden="true">${escapeHtml(preheader)}</div>`
}

export function defaultLayout(mail: { locale: string; subject: string; preheader: string; body: string }): string {
  const direction = rightToLeft.test(mail.locale) ? 'rtl' : 'ltr'
  return `<!DOCTYPE html>
<html lang="${escapeHtml(mail.locale)}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(mail.subject)}</title>
</head>
<body style="margin:0;padding:0;background-color:#f4f5f7;-webkit-text-size-adjust:100%">
${hiddenPreheader(mail.preheader)}<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="background-color:#f4f5f7">
<tr>
<td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px;background-color:#ffffff;border-radius:8px">
<tr>
<td style="padding:32px 28px;font-family:${font};font-size:16px;line-height:1.5;color:#1f2933;text-align:${direction === 'rtl' ? 'right' : 'left'}">
${mail.body}
</td>
</tr>
</table>
</td>
</tr>
</table>
</body>
</html>
`
}

type Align = 'center' | 'left' | 'right'

export function textBlock(html: string, align: Align | undefined): string {
  return `<div style="margin:0 0 16px${align === undefined ? '' : `;text-align:${align}`}">${html}</div>`
}

/** A button without an address is a line in bold. */
export function buttonBlock(label: string, address: string | undefined, align: Align | undefined): string {
  const text = escapeHtml(label)
  if (address === undefined) return textBlock(`<strong>${text}</strong>`, align)
  const link = `display:inline-block;padding:12px 24px;color:#ffffff;font-weight:600;text-decoration:none;border-radius:6px`
  return `<table role="presentation" cellpadding="0" cellspacing="0" border="0" align="${align ?? 'left'}" style="margin:8px 0 24px"><tr><td style="background-color:#1f2933;border-radius:6px"><a href="${escapeHtml(address)}" target="_blank" rel="noopener noreferrer" style="${link}">${text}</a></td></tr></table><div style="clear:both"></div>`
}

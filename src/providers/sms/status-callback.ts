// The field for the address that a vendor is told with each message, to report what becomes of it.
import type { FormField } from '../form.ts'
import { optional, text } from '../form.ts'
import { ofWebhookUrl } from '../webhook.ts'

export const statusCallback = (vendor: string): FormField<string, false> => ({
  ...optional(
    text('Status callback', {
      description: `Where ${vendor} reports what becomes of each message: this integration’s webhook address, with its key as \`?token=…\`.`,
      placeholder: 'https://posthorn.example.com/v1/webhooks/…?token=…',
      mistake: ofWebhookUrl,
    }),
  ),
  // The key is part of it.
  guarded: true,
})

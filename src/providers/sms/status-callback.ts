// The field for the URL that a vendor gets with each message, for delivery reports.
import type { FormField } from '../form.ts'
import { optional, text } from '../form.ts'
import { ofWebhookUrl } from '../webhook.ts'

const label = 'Status callback'
const example = 'https://posthorn.example.com/v1/webhooks/…'

/** For a vendor that signs nothing. */
export const statusCallback = (vendor: string): FormField<string, false> => ({
  ...optional(
    text(label, {
      description: `Where ${vendor} sends delivery reports: the webhook URL of this integration, with its key as \`?token=…\`.`,
      placeholder: `${example}?token=…`,
      mistake: ofWebhookUrl,
    }),
  ),
  // The key is part of it.
  guarded: true,
})

/** For a vendor that signs its reports: the address contains no secret. */
export const signedStatusCallback = (vendor: string): FormField<string, false> =>
  optional(
    text(label, {
      description: `Where ${vendor} sends delivery reports: the webhook URL of this integration.`,
      placeholder: example,
      mistake: ofWebhookUrl,
    }),
  )

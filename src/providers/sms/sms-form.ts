// The body of a form request: what the message determines, the defaults, and what the caller sets instead.
import type { Fields } from '../../domain/merged.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { settingsOf } from '../settings.ts'

/**
 * `decided` cannot be changed by the caller's settings; a name that is undefined there is left out and cannot be set by
 * them either. `usual` can.
 */
export function smsForm(message: Pick<SmsMessage, 'customData'>, decided: Fields, usual: Fields = {}): string {
  const form = new URLSearchParams()
  const whole = { ...decided, ...usual, ...settingsOf(message, Object.keys(decided)) }
  for (const [name, value] of Object.entries(whole)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== '') form.append(name, typeof one === 'string' ? one : JSON.stringify(one))
    }
  }
  return form.toString()
}

export const formHeaders = { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' } as const

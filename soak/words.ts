// The words of every message: a template that prints what its event gave, and what it must have come to.
import type { EventEntry } from './ledger.ts'
import { tenantNameOf } from './people.ts'

/** Missing parts print nothing. Blanks stand alone, as an e-mail's plain text has no two in a row. */
export const wordsTemplate = [
  '(to {{ subscriber.subscriberId }})',
  '(of {{ payload.m }})',
  '(by {{ actor.subscriberId }})',
  '(for {{ tenant.identifier }}/{{ tenant.name }})',
  '(in {{ context.region.id }}/{{ context.order.data.m }})',
  '(text {{ payload.text | size }} {{ payload.text | split: " " | last }})',
].join('')

const wordsPattern = /\(to [^<[\r\n]*\)/g

/** An e-mail says them in plain text and in HTML: once if they are the same. */
export const wordsIn = (text: string): string => [...new Set(text.match(wordsPattern))].join(' ')

type Said = Pick<EventEntry, 'marker' | 'actor' | 'tenant' | 'context' | 'textLength'>

export function wordsOwed(event: Said, recipient: string): string {
  const { marker, actor = '', tenant, context } = event
  const identifier = typeof tenant === 'object' ? tenant.identifier : tenant
  const { region, order } = context ?? {}
  const regionId = typeof region === 'object' ? region.id : region
  return [
    `(to ${recipient})`,
    `(of ${marker})`,
    `(by ${actor})`,
    `(for ${identifier === undefined ? '/' : `${identifier}/${tenantNameOf(identifier)}`})`,
    `(in ${regionId ?? ''}/${order?.data.m ?? ''})`,
    `(text ${textOf(event).length} ${marker})`,
  ].join('')
}

const filler = 'It is packed and on its way to you. '

/** The payload's text: a sentence, or as long as the event wants it. The marker is its last word. */
export function textOf({ marker, textLength = 0 }: Pick<Said, 'marker' | 'textLength'>): string {
  return `${filler.repeat(Math.ceil(textLength / filler.length))}Order ${marker}`
}

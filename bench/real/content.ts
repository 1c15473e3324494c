// What the realistic load says and to whom: templates that both sides render, payloads, recipients.

export type TemplateName = 'plain' | 'rich' | 'long'
/** Given with the event, known by their id alone, or those whose feeds are read. */
export type Recipients = 'inline' | 'known' | 'readers'

export interface Template {
  readonly subject: string
  readonly html: string
  /** Posthorn derives the text part itself; the hand-made service has a template for it. */
  readonly text: string
  readonly inApp: string
}

const plain: Template = {
  subject: 'Order #{{ payload.order.number }}',
  html: '<p>Hello {{ subscriber.firstName }},</p><p>order {{ payload.order.number }} is on its way.</p>',
  text: 'Hello {{ subscriber.firstName }},\n\norder {{ payload.order.number }} is on its way.',
  inApp: 'Order {{ payload.order.number }} is on its way.',
}

const trackingUrl = 'https://shop.example.com/orders/{{ payload.order.number }}?code={{ payload.order.code }}'

/** A condition on the recipient, one on the payload, a loop over what was ordered, a link with a value. */
const rich: Template = {
  subject: 'Order #{{ payload.order.number }} is on its way, {{ subscriber.firstName }}',
  html: `<!doctype html>
<html><head><style>td { padding: 4px 8px } .total { font-weight: bold }</style></head>
<body style="font-family: sans-serif; color: #222">
<h1>Hello {{ subscriber.firstName }},</h1>
<p>thank you for your order of {{ payload.order.placedOn }}.
{% if payload.order.express %}It comes by <strong>express</strong> and arrives tomorrow.{% else %}It arrives within
{{ payload.order.days }} days.{% endif %}</p>
<table>
{% for item in payload.order.items %}<tr><td>{{ item.quantity }} × {{ item.name }}</td><td>{{ item.price }}</td></tr>
{% endfor %}<tr class="total"><td>Total</td><td>{{ payload.order.total }} {{ payload.order.currency }}</td></tr>
</table>
<p><a href="${trackingUrl}">Follow your parcel</a></p>
{% if subscriber.data.plan == 'gold' %}<p>As a gold member in {{ subscriber.data.city }} you paid no postage.</p>{% endif %}
</body></html>`,
  text: `Hello {{ subscriber.firstName }},

thank you for your order of {{ payload.order.placedOn }}.
{% if payload.order.express %}It comes by express and arrives tomorrow.{% else %}It arrives within
{{ payload.order.days }} days.{% endif %}

{% for item in payload.order.items %}{{ item.quantity }} × {{ item.name }}  {{ item.price }}
{% endfor %}Total  {{ payload.order.total }} {{ payload.order.currency }}

Follow your parcel: ${trackingUrl}
{% if subscriber.data.plan == 'gold' %}
As a gold member in {{ subscriber.data.city }} you paid no postage.{% endif %}`,
  inApp: 'Order {{ payload.order.number }} over {{ payload.order.total }} {{ payload.order.currency }} is on its way.',
}

const sections = Array.from({ length: 60 }, (_, index) => `Part ${index}: `)
const sectionWords =
  'what you ordered, {{ subscriber.firstName }}, was packed with care, and its papers are in the parcel with number {{ payload.order.number }}.'
const cell =
  'font-family: Helvetica, Arial, sans-serif; font-size: 14px; line-height: 21px; color: #333333; text-align: left'

/** What page builders make: the same with forty kilobytes of tables and inline styles around it. */
const long: Template = {
  ...rich,
  html: rich.html.replace(
    '</body>',
    `${sections
      .map(
        (title) => `<table role="presentation" border="0" cellpadding="0" cellspacing="0" width="100%"
  style="border-collapse: collapse; max-width: 600px; margin: 0 auto"><tr><td align="left" valign="top"
  style="padding: 16px 24px; border-bottom: 1px solid #eeeeee; ${cell}"><strong style="${cell}">${title}</strong>${sectionWords}</td></tr></table>\n`,
      )
      .join('')}</body>`,
  ),
  text: `${rich.text}\n\n${sections.map((title) => `${title}${sectionWords}`).join('\n\n')}`,
}

export const templates: Readonly<Record<TemplateName, Template>> = { plain, rich, long }

/** What Posthorn is given: the same words as two steps. */
export function stepsOf({ subject, html, inApp }: Template): object[] {
  return [
    { template: { type: 'in_app', content: inApp } },
    { template: { type: 'email', subject, contentType: 'customHtml', layoutId: null, content: html } },
  ]
}

export interface Person {
  readonly subscriberId: string
  readonly firstName: string
  readonly email: string
  readonly data: Readonly<Record<string, string>>
}

const cities = ['Lisbon', 'Oslo', 'Quito', 'Accra', 'Hanoi', 'Perth', 'Turin']

export const personOf = (id: string, number: number): Person => ({
  subscriberId: id,
  firstName: `First ${number}`,
  email: `${id}@example.com`,
  data: { plan: number % 3 === 0 ? 'gold' : 'basic', city: cities[number % cities.length] ?? '' },
})

/** Those whom most events go to: each hears of many. */
export const regularCount = 1_000
export const regularOf = (number: number): Person => personOf(`regular-${number}`, number)
/** Those whose feeds are read: each has a full page before anything is timed. */
export const readerCount = 100
export const readerOf = (number: number): Person => regularOf(number % readerCount)
export const pageSize = 10
/** One recipient in so many was never seen before, when recipients are given inline. */
const newEvery = 10

function recipientOf(number: number, recipients: Recipients): object {
  if (recipients === 'readers') return readerOf(number)
  // A prime's stride spreads the events over all of them.
  const regular = regularOf((number * 7919) % regularCount)
  if (recipients === 'known') return { subscriberId: regular.subscriberId }
  return number % newEvery === 0 ? personOf(`new-${number}`, number) : regular
}

const goods = ['Teapot', 'Lamp', 'Notebook', 'Ladder', 'Compass', 'Blanket', 'Kettle']

/** Event number so and so: its number is in the subject, by which the sink knows it again. */
export function eventOf(number: number, template: TemplateName, recipients: Recipients): object {
  const items = Array.from({ length: 2 + (number % 4) }, (_, index) => ({
    name: goods[(number + index) % goods.length],
    quantity: 1 + (index % 3),
    price: `${9 + index}.90`,
  }))
  return {
    name: template,
    to: recipientOf(number, recipients),
    payload: {
      order: {
        number,
        items,
        total: `${20 + (number % 80)}.40`,
        currency: 'EUR',
        express: number % 4 === 0,
        days: 2 + (number % 5),
        placedOn: '2026-03-14',
        code: `T${(number * 104_729).toString(36).toUpperCase()}`,
      },
    },
  }
}

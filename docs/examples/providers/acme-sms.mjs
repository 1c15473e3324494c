// Acme SMS: a provider of an operator's own. Copy it, and name its folder in POSTHORN_PROVIDERS_DIR.

/** The kit holds what Posthorn's own providers are made of: src/providers/kit.ts lists it. */
export function provider({ httpProvider, form, outcome, answer: read, sms, signing, inbound }) {
  const origin = ({ baseUrl }) => (baseUrl === undefined ? 'https://api.acme-sms.example' : form.baseAddress(baseUrl))
  const headers = ({ apiKey }) => ({ authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' })
  return httpProvider({
    id: 'acme-sms',
    channel: 'sms',
    name: 'Acme SMS',
    docsUrl: 'https://docs.acme-sms.example',
    evidence: { source: 'vendor' },
    form: {
      apiKey: form.secret('API key', { mistake: form.ofVisibleAscii }),
      from: form.text('Sender', { placeholder: '+14155550100' }),
      baseUrl: form.ownBaseUrl('Acme SMS'),
    },
    features: ['sender per message', 'Unicode'],
    limits: { contentCharactersMax: 1_600 },
    /** Where a passthrough may not write: the message decides whom it goes to. */
    recipientMembers: ['to'],

    request(message, account) {
      const mistake = sms.mistakeOfSms(message)
      if (mistake !== undefined) return mistake
      const body = {
        ...sms.settingsOf(message, ['to', 'from', 'text', 'reference']),
        to: message.to,
        from: sms.senderOf(message, account),
        text: message.content,
        reference: message.id,
      }
      return {
        url: `${origin(account)}/messages`,
        method: 'POST',
        headers: headers(account),
        body: JSON.stringify(body),
      }
    },

    outcome(answer) {
      const id = answer.id('id')
      if (answer.status === 201 && id !== undefined) return outcome.sent(id)
      const words = read.wordsOf('Acme SMS', answer, 'error.message')
      if (answer.string('error.code') === 'unknown_number') return outcome.refused('bad-recipient', words)
      if (answer.string('error.code') === 'no_credit') return outcome.misconfigured(words)
      return outcome.outcomeOfStatus(answer, words)
    },

    probe: {
      request: (account) => ({ url: `${origin(account)}/account`, method: 'GET', headers: headers(account) }),
      field: 'apiKey',
      words: ['error.message'],
    },

    receipts: {
      setUp: 'Set the address under "Webhooks", and its secret as the signing key of the integration.',
      verify({ headers: given, body }, { key, world }) {
        const { 'x-acme-time': time = '', 'x-acme-signature': signature = '' } = given
        if (key === undefined || !signing.isRecent(time, world.now())) return false
        return signing.isSame(signature, signing.hmac('sha256', key, `${time}.${body}`).toString('hex'))
      },
      read(call) {
        const event = inbound.jsonOf(call)
        const status = { arrived: 'delivered', lost: 'failed' }[event.string('state') ?? '']
        if (status === undefined) return []
        const messageId = event.string('reference')
        return [{ status, ...(messageId === undefined ? {} : { messageId }), row: event.value('') }]
      },
    },
  })
}

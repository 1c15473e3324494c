// App IO’s contract.
import type { PushMessage } from '../../../../src/domain/messages/outbound-message.ts'
import { appio } from '../../../../src/providers/push/appio.ts'
import type { ContractAnswer, ProviderContract } from '../../../support/provider-contract.ts'

const longText = 'La tua pratica numero 42 risulta ora completata. Puoi consultare i dettagli nella tua area personale.'
const id = '01BX9NSMKVXXS5PSP2FATZMYYY'
const failure = (status: number): ContractAnswer => ({ status, body: { title: 'Title', status, detail: 'words' } })

/** The least that IO takes is more than the least of others: a title, 80 characters, and a key from somewhere. */
function longEnough(message: PushMessage): PushMessage {
  if (message.title !== '') return message
  return { ...message, title: 'Pratica numero 42', content: longText, customData: { apiKey: 'key-of-the-trigger' } }
}

export const contract: ProviderContract = {
  provider: {
    ...appio,
    send: async (world, message, account) => {
      const outcome = await appio.send?.(world, longEnough(message as PushMessage), account)
      return outcome ?? { kind: 'unsure', detail: 'cannot send' }
    },
  },
  account: { AppIOBaseUrl: 'https://api.io.pagopa.it/api/v1', apiKey: 'io-subscription-key' },
  message: {
    target: 'AAAAAA00A00A000A',
    title: 'Pratica numero 42 aggiornata',
    content: longText,
    customData: {
      time_to_live: 7200,
      feature_level_type: 'STANDARD',
      due_date: '2026-12-31T00:00:00.000Z',
      payment_data: { amount: 100, notice_number: '177777777777777777' },
    },
  },
  variants: [
    {
      name: 'the older address, and settings that do not say where it goes',
      account: { AppIOBaseUrl: 'https://api.io.italia.it/api/v1/', apiKey: 'io-subscription-key' },
      message: { customData: { fiscal_code: 'BBBBBB00B00B000B', default_addresses: { email: 'x@example.org' } } },
    },
  ],
  before: ({ url }) =>
    new URL(url).pathname.endsWith('/profiles')
      ? { status: 200, body: { sender_allowed: true, preferred_languages: ['it_IT'] } }
      : undefined,
  success: { answer: { status: 201, body: { id } }, id },
  errors: [
    ['a wrong body', failure(400), 'refused: bad-content'],
    ['a wrong key', failure(401), 'misconfigured'],
    ['a service without permission', failure(403), 'misconfigured'],
    ['too many', failure(429), 'busy', 30_000],
    ['trouble', failure(500), 'busy'],
    ['a gateway that gave up', failure(504), 'unsure'],
    ['a success without an id', { status: 201, body: {} }, 'unsure'],
  ],
}

// iMedia’s contract.
import { imedia } from '../../../../src/providers/sms/imedia.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const answered = (errorCode: string, errorMessage = '', referentId = '') => ({
  status: 200,
  body: {
    sendMessage: { to: '84900000001', from: 'ACME' },
    msgLength: 17,
    mtCount: 1,
    account: 'acme',
    errorCode,
    errorMessage,
    referentId,
  },
})
const kinds = {
  accepted: 'queued',
  queued: 'queued',
  sending: 'sent',
  sent: 'sent',
  delivered: 'delivered',
  undelivered: 'failed',
  failed: 'failed',
} as const

export const contract: ProviderContract = {
  provider: imedia,
  account: { token: 'fake-token-0001', from: 'ACMEVN' },
  message: { to: '+84900000001' },
  variants: [
    {
      name: 'by a base address',
      account: { token: 'fake-token-0001', from: 'ACMEVN', baseUrl: 'https://imedia.proxy.test/' },
    },
    {
      name: 'settings of the caller, who cannot say where it goes',
      message: { customData: { priority: 1, telco: 'VTL', to: '1', requestId: 'x' } },
    },
  ],
  success: { answer: answered('000', '', 'R-1'), id: 'R-1' },
  errors: [
    ['a wrong token', answered('001', 'Invalid token'), 'misconfigured'],
    ['another code', answered('999', 'words'), 'refused: other'],
    ['a success without an id', answered('000'), 'unsure'],
    ['no code at all', { status: 200, body: { referentId: 'R-1' } }, 'unsure'],
    ['no right', { status: 403 }, 'misconfigured'],
  ],
  receipts: {
    key: 'shared-webhook-key',
    cases: [
      ...Object.entries(kinds).map(([given, status]) => ({
        name: given,
        call: { body: { referentId: 'R-1', status: given } },
        expected: [{ status, providerMessageId: 'R-1' }],
      })),
      { name: 'an unknown status', call: { body: { referentId: 'R-1', status: 'hm' } }, expected: [] },
    ],
  },
}

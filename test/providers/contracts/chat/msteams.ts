// The contract of MS Teams.
import { msteams } from '../../../../src/providers/chat/msteams.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const failure = (status: number, code: string) => ({ status, body: { error: { code, message: 'words' } } })

export const contract: ProviderContract = {
  provider: msteams,
  callsRecipient: true,
  account: {},
  message: {
    webhookUrl:
      'https://prod-161.westeurope.logic.azure.com:443/workflows/643e69f83c8944438d68119179a10a64/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=FAKE-sig_1',
    customData: { summary: 'Order 42', webhookUrl: 'https://evil.example' },
  },
  variants: [
    {
      name: 'a workflow of the Power Platform',
      message: {
        webhookUrl:
          'https://default0123456789abcdef.01.environment.api.powerplatform.com:443/powerautomate/automations/direct/workflows/f1/triggers/manual/paths/invoke?api-version=1&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=FAKE',
        customData: undefined,
      },
    },
    {
      name: 'an old connector',
      message: {
        webhookUrl: 'https://acme.webhook.office.com/webhookb2/g1@t1/IncomingWebhook/h1/g2',
        customData: { themeColor: '0076D7' },
      },
    },
    {
      name: 'a card that someone wrote, as the text',
      message: { content: '{"@type":"MessageCard","text":"Order 42"}', customData: undefined },
    },
    {
      name: 'a card of the caller’s settings, without a text',
      message: { content: '', customData: { type: 'message', attachments: [{ contentType: 'x', content: {} }] } },
    },
  ],
  success: { answer: { status: 202, headers: { 'x-ms-workflow-run-id': '0858FAKE' } }, id: '0858FAKE' },
  successes: [
    ['a flow that answers', { status: 200, headers: { 'x-ms-request-id': 'r-1' }, body: { any: 'thing' } }, 'r-1'],
    ['no trace', { status: 202 }, '0197f3a0-0000-7000-8000-000000000004'],
  ],
  errors: [
    ['a body of another shape', failure(400, 'TriggerInputSchemaMismatch'), 'refused: bad-content'],
    ['a body that is none', failure(400, 'InvalidRequestContent'), 'refused: bad-content'],
    ['a flow that is off', failure(400, 'WorkflowTriggerIsNotEnabled'), 'refused: bad-recipient'],
    ['an address without its signature', failure(401, 'DirectApiAuthorizationRequired'), 'refused: bad-recipient'],
    ['a token where none is', failure(401, 'SecurityTokenMissing'), 'refused: bad-recipient'],
    ['a signature that has ended', failure(403, 'AuthorizationFailed'), 'refused: bad-recipient'],
    ['no such workflow', failure(404, 'WorkflowNotFound'), 'refused: bad-recipient'],
    ['gone', { status: 410 }, 'refused: bad-recipient'],
    ['too large', failure(413, 'RequestEntityTooLarge'), 'refused: bad-content'],
    ['too many calls', { status: 429, headers: { 'retry-after': '5' } }, 'busy', 5_000],
    ['no answer from the flow', failure(502, 'NoResponse'), 'busy'],
    [
      'too many calls, reported within a success',
      {
        status: 200,
        body: 'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429',
      },
      'busy',
    ],
    [
      'too large, reported within a success',
      {
        status: 200,
        body: 'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 413',
      },
      'refused: bad-content',
    ],
  ],
  statuses: { 401: 'refused: bad-recipient' },
  bodyIsIgnored: true,
}

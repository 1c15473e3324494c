// Microsoft Teams: a workflow of Power Automate, or an old Office 365 connector, whose address belongs to the subscriber.
// https://support.microsoft.com/office/create-incoming-webhooks-with-workflows-for-microsoft-teams-8ae491c7-0394-4861-ba59-055e33f75498
// https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { Fields } from '../../domain/merged.ts'
import { isFields } from '../../domain/merged.ts'
import type { ChatMessage } from '../../domain/messages/outbound-message.ts'
import { httpProvider } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { parsedJson } from '../reading.ts'
import { settingsOf } from '../settings.ts'
import { addressOf, hasAddress, isAmong } from './chat-address.ts'
import { jsonRequest } from './chat-message.ts'
import { outcomeOfAddress } from './chat-outcome.ts'

const connectorHosts = ['*.webhook.office.com', 'outlook.office.com', 'outlook.office365.com'] as const
const addressRule = {
  example: 'https://….logic.azure.com/workflows/…',
  hosts: [
    ...connectorHosts,
    '*.logic.azure.com',
    '*.logic.azure.us',
    '*.api.powerplatform.com',
    '*.api.powerautomate.com',
    '*.flow.microsoft.com',
  ],
  path: /^\/./,
} as const
/** From a flow that was switched off; its address responds 400, as it does for a bad card. */
const disabledFlow = 'WorkflowTriggerIsNotEnabled'

export const msteams = httpProvider({
  id: 'msteams',
  channel: 'chat',
  name: 'MS Teams',
  docsUrl:
    'https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook',
  evidence: {
    source: 'partly',
    unsure:
      'The error codes of workflows, and how long old connectors will work. A workflow that accepted a message may still fail to post it.',
  },
  features: ['cards'],
  // Beyond it a workflow accepts the message and fails later, without reporting it.
  limits: { requestBytesMax: 28_000 },
  form: {},
  callsRecipient: hasAddress,

  request(message) {
    const url = addressOf(message, addressRule)
    if (!(url instanceof URL)) return url
    const body = { ...bodyOf(message, isConnector(url)), ...settingsOf(message, ['webhookUrl']) }
    if (Object.keys(body).length === 0) return refused('bad-content', 'The message has no content')
    return jsonRequest(url, body)
  },

  outcome(answer, message) {
    const words = wordsOf('MS Teams', answer, 'error.message', 'message')
    if (answer.status < 200 || answer.status >= 300) return failure(answer, words)
    // An old connector reports failures within a success.
    const statusText = /returned HTTP error (\d{3})\b/.exec(answer.body)?.[1]
    if (statusText !== undefined) return failure({ ...answer, status: Number(statusText) }, words)
    const { headers } = answer
    const trace = headers.get('x-ms-workflow-run-id') ?? headers.get('x-ms-request-id') ?? headers.get('request-id')
    const isTaken = answer.body.trim() === '1' || !isConnector(new URL(message.webhookUrl ?? ''))
    return isTaken ? sent(trace ?? message.id) : unsure(words)
  },
})

const isConnector = ({ hostname }: URL): boolean => isAmong(hostname, connectorHosts)

/** A text that is a JSON object is the whole message: a card that the author wrote. */
function bodyOf({ content }: ChatMessage, isOld: boolean): Fields {
  const card = content.trimStart().startsWith('{') ? parsedJson(content) : undefined
  if (isFields(card)) return card
  if (content === '') return {}
  // A workflow goes through the attachments; a bare text would be accepted and posted nowhere.
  return isOld ? { text: content } : { type: 'message', attachments: [cardOf(content)] }
}

function cardOf(text: string): object {
  return {
    contentType: 'application/vnd.microsoft.card.adaptive',
    contentUrl: null,
    content: {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      msteams: { width: 'Full' },
      body: [{ type: 'TextBlock', text, wrap: true }],
    },
  }
}

function failure(answer: ProviderAnswer, words: string): Outcome {
  if (answer.status !== 400) return outcomeOfAddress(answer, words)
  return refused(answer.string('error.code') === disabledFlow ? 'bad-recipient' : 'bad-content', words)
}

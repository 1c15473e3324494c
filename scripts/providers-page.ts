// docs/providers.md: every provider, what it needs, what it can do, and how sure we are of its wire.
import type { FormField } from '../src/providers/form.ts'
import { fieldsOf, isSecret } from '../src/providers/form.ts'
import type { Limits } from '../src/providers/limits.ts'
import type { Evidence, Provider } from '../src/providers/provider.ts'
import { providers } from '../src/providers/registry.ts'
import { table } from './markdown-table.ts'

const sources: Readonly<Record<Evidence['source'], string>> = {
  vendor: 'vendor’s documentation',
  partly: 'partly the vendor’s documentation',
  others: 'third-party code only',
  ours: 'our own',
}

export function providersPage(): string {
  const rows = providers.map((provider) => [
    provider.channel,
    provider.name,
    `\`${provider.id}\``,
    provider.check === undefined ? 'no' : 'yes',
    provider.batching === undefined ? '' : `${provider.batching.max}`,
    receiptsOf(provider),
    sources[provider.evidence.source],
  ])
  return `<!-- Generated from src/providers/registry.ts by \`npm run docs\`: change the providers, not this file. -->

# Providers

Generated from src/providers/registry.ts: ${providers.length} providers.

An integration is an account at one of these. An active one must have every required credential; with \`check: true\`
the credentials are verified with the provider, if "Can be checked" says yes. Secrets are encrypted at rest and
shown to keys with the scope \`full\` only.

"Many at once" is how many messages one request can contain. "Verified against" is the source of what Posthorn knows about the API;
the project’s own tests use no real accounts, but compare each request with those under
\`test/providers/golden\`.

**Delivery receipts.** Set \`configurations.inboundWebhookEnabled\` of the integration, and let the vendor call
\`<base URL>/v1/webhooks/{environmentId}/{integrationId}\`. "signed": the vendor’s own signature is checked, with
\`configurations.inboundWebhookSigningKey\` or the credential named below. "key": the vendor does not sign its requests, so they must
carry that key as a Bearer token, as user name or password of Basic authentication, or as \`?token=\` in the URL.
"asked": the service polls the vendor. A request that cannot be verified is rejected with 401 and changes nothing.

**Replies to e-mails.** If "Receipts" says "+ replies", the vendor’s inbound webhook can use the same URL. With
\`configurations.inboundParseDomain\` set to the domain whose mail it receives, e-mails of steps with an active
\`replyCallback\` have a reply-to address there, and each reply is forwarded to the callback URL as a signed request.

${table(['Channel', 'Provider', '`providerId`', 'Can be checked', 'Many at once', 'Receipts', 'Verified against'], rows)}
${providers.map(providerSection).join('\n')}`
}

function receiptsOf({ receipts, replies, polling }: Provider): string {
  const kinds = [
    receipts === undefined ? undefined : receipts.verify === undefined ? 'key' : 'signed',
    polling === undefined ? undefined : 'asked',
    replies === undefined ? undefined : '+ replies',
  ]
  return kinds.filter((kind) => kind !== undefined).join(' ')
}

function providerSection(provider: Provider): string {
  const documentation = /^https?:/.test(provider.docsUrl) ? `\n<${provider.docsUrl}>\n` : ''
  const { unsure } = provider.evidence
  const facts = [
    provider.features === undefined ? '' : `Carries: ${provider.features.join(', ')}.`,
    limitsOf(provider.limits ?? {}),
    provider.idempotent === true ? 'Repeats are detected by a key: a message is never sent twice.' : '',
    provider.receipts === undefined ? '' : `Receipts: ${provider.receipts.setUp}`,
    provider.replies === undefined ? '' : `Replies: ${provider.replies.setUp}`,
    unsure === undefined ? '' : `Unsure: ${unsure}`,
  ].filter((line) => line !== '')
  const list = facts.length === 0 ? '' : `\n${facts.map((fact) => `- ${fact}`).join('\n')}\n`
  return `## ${provider.name} (\`${provider.id}\`)\n${documentation}${list}\n${credentialsOf(provider)}`
}

function limitsOf({
  contentCharactersMax,
  segmentsMax,
  recipientsMax,
  messageBytesMax,
  requestBytesMax,
  perSecond,
}: Limits): string {
  const facts = [
    contentCharactersMax && `${contentCharactersMax} characters`,
    segmentsMax && `${segmentsMax} SMS segments`,
    recipientsMax && `${recipientsMax} recipients`,
    messageBytesMax && `${messageBytesMax} bytes of texts and files`,
    requestBytesMax && `${requestBytesMax} bytes of request`,
    perSecond && `about ${perSecond} requests per second`,
  ].filter(Boolean)
  return facts.length === 0 ? '' : `Limits: ${facts.join(', ')}.`
}

function credentialsOf(provider: Provider): string {
  const fields = fieldsOf(provider.form)
  if (fields.length === 0) return 'It needs no credentials.\n'
  return table(
    ['Credential', 'Label', 'Required', 'Secret', 'Meaning'],
    fields.map(([key, field]) => [
      `\`${key}\``,
      field.label,
      field.required ? 'yes' : 'no',
      isSecret(field) ? 'yes' : 'no',
      meaningOf(field),
    ]),
  )
}

function meaningOf(field: FormField): string {
  const choices =
    field.choices === undefined ? '' : `One of ${field.choices.map((value) => `\`${value}\``).join(', ')}.`
  const example = field.placeholder === undefined ? '' : `Such as \`${field.placeholder}\`.`
  return [field.description ?? '', choices, example].filter((part) => part !== '').join(' ')
}

// The catalogue of providers: /v1/providers.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { fieldsOf, isSecret } from '../../../providers/form.ts'
import type { Provider } from '../../../providers/provider.ts'
import { providers } from '../../../providers/registry.ts'
import { route } from '../../route.ts'
import { literals } from '../../schemas.ts'
import { channel } from './integration-schemas.ts'

const credentialField = Type.Object(
  {
    key: Type.String({ description: 'The field of `credentials`.' }),
    label: Type.String(),
    type: literals(['string', 'boolean', 'object']),
    required: Type.Boolean({ description: 'Whether an active integration must have it.' }),
    secret: Type.Boolean({ description: 'Whether it is shown to full keys only.' }),
    description: Type.Optional(Type.String()),
    placeholder: Type.Optional(Type.String()),
    choices: Type.Optional(Type.Array(Type.String(), { description: 'The allowed values.' })),
  },
  { title: 'CredentialField' },
)

const providerSchema = Type.Object(
  {
    providerId: Type.String(),
    name: Type.String(),
    channel,
    docsUrl: Type.String({ description: 'The vendor’s own documentation.' }),
    canCheck: Type.Boolean({ description: 'Whether `check` can verify the credentials with the provider.' }),
    features: Type.Array(Type.String(), { description: 'What it supports beyond the plain message.' }),
    batchMax: Type.Integer({ description: 'The maximum number of messages per request.' }),
    receipts: literals(['none', 'signed', 'key', 'asked'], {
      description:
        'How delivery receipts are authenticated: by the vendor’s signature, by the key of the integration, or by polling the provider.',
    }),
    takesReplies: Type.Boolean({ description: 'Whether it forwards replies to e-mails.' }),
    verifiedAgainst: literals(['vendor', 'partly', 'others', 'ours'], {
      description: 'The source of what Posthorn knows about its API.',
    }),
    credentials: Type.Array(credentialField),
  },
  { title: 'Provider' },
)

export const providerRoutes = [
  route({
    tag: 'Integrations',
    category: 'global',
    method: 'GET',
    path: '/v1/providers',
    operationId: 'listProviders',
    summary: 'List providers',
    description: 'The providers that integrations can use, and the credentials each needs.',
    scope: 'read',
    replies: { 200: Type.Array(providerSchema) },
    handle: async () => ok(providers.map(catalogueEntry)),
  }),
]

function catalogueEntry(provider: Provider) {
  return {
    providerId: provider.id,
    name: provider.name,
    channel: provider.channel,
    docsUrl: provider.docsUrl,
    canCheck: provider.check !== undefined,
    features: provider.features ?? [],
    batchMax: provider.batching?.max ?? 1,
    receipts: receiptsOf(provider),
    takesReplies: provider.replies !== undefined,
    verifiedAgainst: provider.evidence.source,
    credentials: fieldsOf(provider.form).map(([key, field]) => ({
      key,
      label: field.label,
      type: field.kind === 'secret' ? 'string' : field.kind,
      required: field.required,
      secret: isSecret(field),
      ...(field.description === undefined ? {} : { description: field.description }),
      ...(field.placeholder === undefined ? {} : { placeholder: field.placeholder }),
      ...(field.choices === undefined ? {} : { choices: field.choices }),
    })),
  }
}

function receiptsOf({ receipts, polling }: Provider): 'none' | 'signed' | 'key' | 'asked' {
  if (receipts !== undefined) return receipts.verify === undefined ? 'key' : 'signed'
  return polling === undefined ? 'none' : 'asked'
}

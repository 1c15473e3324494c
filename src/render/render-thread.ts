// The thread that renders, examines long templates, judges by large schemas and writes large workflows as texts: one request at a
// time, each with a renderer of its own. Only compiled schemas are kept.
import { parentPort } from 'node:worker_threads'
import { RenderError } from '../domain/workflows/rendering.ts'
import { translations, translationsOf } from '../domain/workflows/translation.ts'
import type { ThreadReply, ThreadRequest } from './elsewhere.ts'
import { rendered } from './elsewhere.ts'
import type { ExamineRequest } from './examine.ts'
import { examinedAll } from './examine.ts'
import type { SchemaReply, SchemaRequest } from './payload/schema-elsewhere.ts'
import { schemaReply } from './payload/schema-elsewhere.ts'
import type { TextsRequest } from './workflow-text/texts-elsewhere.ts'
import { textsReply } from './workflow-text/texts-elsewhere.ts'

type Request = ThreadRequest | ExamineRequest | SchemaRequest | TextsRequest

function replyTo(message: Request): ThreadReply | SchemaReply {
  if ('payloadSchema' in message) return schemaReply(message)
  if ('workflowText' in message) return textsReply(message)
  return 'examine' in message ? examinedReply(message) : renderedReply(message)
}

function examinedReply(request: ExamineRequest): ThreadReply {
  try {
    return { value: examinedAll(request) }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

function renderedReply({ request, locales, at }: ThreadRequest): ThreadReply {
  const texts = locales === undefined ? {} : { [translations]: translationsOf(locales) }
  const scope = { ...request.scope, ...texts }
  try {
    return { value: rendered({ ...request, scope }, at) }
  } catch (error) {
    if (error instanceof RenderError) return { field: error.field, message: error.message }
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

parentPort?.on('message', (message: Request) => parentPort?.postMessage(replyTo(message)))
parentPort?.postMessage('ready')

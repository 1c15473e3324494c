// The custom step: a signed request to the customer's own service, whose response later steps can use.
import {
  callTimeoutMs,
  customMistakes,
  isCustomMetadata,
  isHeaderValue,
  urlMistake,
  withTexts,
} from '../domain/delivery/custom-call.ts'
import type { CallOut, Decision } from '../domain/delivery/decision.ts'
import { detail } from '../domain/insight/execution-detail.ts'
import { secretVariables } from '../domain/workflows/environment-variable.ts'
import { RenderError } from '../domain/workflows/rendering.ts'
import type { CustomMetadata } from '../domain/workflows/workflow.ts'
import { isMetadataHost } from '../world/outbound/address-guard.ts'
import { describeErrors } from './duration-override.ts'
import type { Step, StepInput, StepMistake } from './step.ts'

/** A payload with a hundred others that were digested; what is more is no notification. */
const bodyBytesMax = 2 * 1024 * 1024

export const custom: Step = {
  type: 'custom',
  mistakes: ({ metadata }) => [...customMistakes(metadata), ...hostMistakes(metadata)],

  decide(input): Decision {
    const { now, step } = input
    const { metadata } = step
    if (!isCustomMetadata(metadata)) {
      const raw = { error: describeErrors(customMistakes(metadata)) }
      return { kind: 'fail', details: [detail(now, 'callFailed', { raw })], stops: true }
    }
    try {
      return callOf(input, metadata)
    } catch (error) {
      if (!(error instanceof RenderError)) throw error
      const raw = { field: error.field, message: error.message }
      const stops = metadata.continueOnFailure !== true
      return { kind: 'fail', details: [detail(now, 'contentFailed', { raw })], stops }
    }
  },
}

/** Private addresses may be listed by the operator, so they are judged when they are called; these can never be. */
function hostMistakes(metadata: unknown): StepMistake[] {
  if (!isCustomMetadata(metadata)) return []
  // The host is written out, whatever follows it.
  const host = new URL(metadata.url.split('{')[0] ?? '').hostname
  if (!isMetadataHost(host)) return []
  return [{ path: 'metadata.url', message: 'must not be a metadata address, which is always blocked' }]
}

function callOf(input: StepInput, metadata: CustomMetadata): CallOut {
  const { now, job, scope, renderer } = input
  const secrets = scope[secretVariables]
  const withSecrets = secrets === undefined ? scope : { ...scope, env: { ...(scope['env'] as object), ...secrets } }
  const rendered = (text: string, path: string): string => {
    try {
      // Headers are shown nowhere: only there are secrets printed.
      return renderer.value(text, path.startsWith('metadata.headers.') ? withSecrets : scope)
    } catch (error) {
      // The renderer knows a value by no name.
      throw error instanceof RenderError ? new RenderError(path, error.message) : error
    }
  }
  const { method = 'POST', timeoutMs = callTimeoutMs, continueOnFailure = false } = metadata
  const url = urlOf(rendered(metadata.url, 'metadata.url'))
  const headers = headersOf(metadata, rendered)
  const own = withTexts(metadata.body ?? {}, 'metadata.body', rendered) as Readonly<Record<string, unknown>>
  const asked = { method, url: shownUrl(url), headers: Object.keys(headers), ...(metadata.body && { body: own }) }
  return {
    kind: 'callOut',
    url,
    method,
    headers,
    body: bodyOf(input, own),
    timeoutMs,
    continueOnFailure,
    details: [detail(now, 'callStarted', { raw: asked, isRetry: job.status === 'running' })],
  }
}

function urlOf(text: string): string {
  const url = text.trim()
  const mistake = urlMistake(url)
  if (mistake !== undefined) throw new RenderError('metadata.url', mistake)
  return url
}

/** Queries may contain tokens: they are not shown. */
function shownUrl(text: string): string {
  const { origin, pathname, search } = new URL(text)
  return `${origin}${pathname}${search === '' ? '' : '?…'}`
}

function headersOf(
  { headers = {} }: CustomMetadata,
  rendered: (text: string, path: string) => string,
): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, text] of Object.entries(headers)) {
    const path = `metadata.headers.${name}`
    const value = rendered(text, path).trim()
    if (!isHeaderValue(value)) throw new RenderError(path, 'renders to a value that is not valid in a header')
    found[name] = value
  }
  return found
}

function bodyOf({ job, step, event, scope }: StepInput, own: Readonly<Record<string, unknown>>): string {
  const { digest, events, total_count } = scope.step
  const body = JSON.stringify({
    ...own,
    subscriber: scope.subscriber,
    payload: event.payload,
    workflow: scope.workflow,
    // Without a digest the only event is the payload itself.
    step: { stepId: step.uuid, name: step.name, digest, total_count, ...(digest ? { events } : {}) },
    transactionId: event.transactionId,
    notificationId: job.notificationId,
  })
  if (Buffer.byteLength(body) > bodyBytesMax) {
    throw new RenderError('metadata.body', `renders to a body of more than ${bodyBytesMax} bytes`)
  }
  return body
}

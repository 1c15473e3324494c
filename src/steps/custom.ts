// The custom step: a signed request to the customer's own service, whose response later steps can use.
import {
  callTimeoutMs,
  customMistakes,
  isCustomMetadata,
  isHeaderValue,
  textsIn,
  urlMistake,
  withTexts,
} from '../domain/delivery/custom-call.ts'
import type { CallOut, Decision } from '../domain/delivery/decision.ts'
import { detail } from '../domain/insight/execution-detail.ts'
import { secretVariables } from '../domain/workflows/environment-variable.ts'
import type { TemplateScope } from '../domain/workflows/rendering.ts'
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
  const { now, job } = input
  const { method = 'POST', timeoutMs = callTimeoutMs, continueOnFailure = false } = metadata
  const rendered = renderedCall(input, metadata)
  const url = urlOf(rendered.url)
  const headers = headersOf(rendered.headers ?? {})
  const own = rendered.body ?? {}
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

/** The settings with every text rendered. */
function renderedCall({ scope, renderer, templateKey }: StepInput, metadata: CustomMetadata) {
  const secrets = scope[secretVariables]
  const withSecrets = secrets === undefined ? scope : { ...scope, env: { ...(scope['env'] as object), ...secrets } }
  const { url, headers, body } = metadata
  const renderedIn = <Part extends object>(name: string, part: Part, by: TemplateScope): Part => {
    const texts = renderer.fields(`${templateKey}/${name}`, textsIn(part, 'metadata'), by).values()
    return withTexts(part, 'metadata', () => texts.next().value ?? '') as Part
  }
  // Headers are shown nowhere: only there are secrets printed.
  return { ...renderedIn('call', { url, body }, scope), ...renderedIn('headers', { headers }, withSecrets) }
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

function headersOf(rendered: Readonly<Record<string, string>>): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, text] of Object.entries(rendered)) {
    const value = text.trim()
    if (!isHeaderValue(value)) {
      throw new RenderError(`metadata.headers.${name}`, 'renders to a value that is not valid in a header')
    }
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

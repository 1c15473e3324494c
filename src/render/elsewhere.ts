// Rendering in a thread, for code that decides synchronously: what has to be rendered elsewhere is, and then it is decided again.
import { setImmediate } from 'node:timers/promises'
import { Problem } from '../domain/problem.ts'
import type { Renderer, RenderRequest, TemplateScope } from '../domain/workflows/rendering.ts'
import { RenderElsewhere, RenderError } from '../domain/workflows/rendering.ts'
import type { LocaleTexts } from '../domain/workflows/translation.ts'
import { translations } from '../domain/workflows/translation.ts'
import type { Threads } from '../world/threads.ts'
import { ThreadFailure } from '../world/threads.ts'
import { createRenderer } from './renderer.ts'

/** As it is posted to a thread. */
export interface ThreadRequest {
  readonly request: RenderRequest
  /** What the scope contains under a symbol, which is not copied. */
  readonly locales: readonly LocaleTexts[] | undefined
  /** What a template's "now" shows. */
  readonly at: Date
}

export type ThreadReply =
  | { readonly value: unknown }
  | { readonly field: string; readonly message: string }
  | { readonly fault: string }

/** Renders nothing itself: for what is not saved. */
export const elsewhereOnly: Renderer = {
  email: (_key, template, scope, frame) => leave({ kind: 'email', template, scope, frame }),
  inApp: (_key, template, scope) => leave({ kind: 'inApp', template, scope }),
  text: (_key, template, scope) => leave({ kind: 'text', template, scope }),
  value: (text, scope) => leave({ kind: 'value', text, scope }),
  fields: (_key, fields, scope) => leave({ kind: 'fields', fields, scope }),
  values: (scope) => (text) => leave({ kind: 'conditionValue', text, scope }),
}

function leave(request: RenderRequest): never {
  throw new RenderElsewhere(request)
}

interface Work<Result> {
  /** Undefined where there are none: everything is rendered here. */
  readonly threads: Threads | undefined
  /** Renders here, where there are no threads. */
  readonly renderer: Renderer
  /** Used if there are: first, and again after each rendering elsewhere. */
  readonly first: Renderer
  readonly now: () => Date
  /** Must return the same for the same input. */
  decide(renderer: Renderer): Result
}

/** What is decided once everything was rendered that had to be rendered elsewhere. */
export async function decideElsewhere<Result>(work: Work<Result>): Promise<Result> {
  if (work.threads === undefined) return work.decide(work.renderer)
  // By the order of the calls, which is the same each time.
  const outcomes = new Map<number, () => unknown>()
  for (;;) {
    let calls = 0
    const known = <Value>(render: () => Value): Value => {
      const outcome = outcomes.get(calls)
      calls += 1
      return outcome === undefined ? render() : (outcome() as Value)
    }
    try {
      return work.decide(replaying(work.first, known))
    } catch (error) {
      if (!(error instanceof RenderElsewhere)) throw error
      const place = calls - 1
      outcomes.set(place, await outcomeOf(work.threads, error.request, work.now()))
    }
  }
}

function replaying(renderer: Renderer, known: <Value>(render: () => Value) => Value): Renderer {
  return {
    email: (key, template, scope, frame) => known(() => renderer.email(key, template, scope, frame)),
    inApp: (key, template, scope) => known(() => renderer.inApp(key, template, scope)),
    text: (key, template, scope) => known(() => renderer.text(key, template, scope)),
    value: (text, scope) => known(() => renderer.value(text, scope)),
    fields: (key, fields, scope) => known(() => renderer.fields(key, fields, scope)),
    values: (scope) => {
      const render = renderer.values(scope)
      return (text) => known(() => render(text))
    },
  }
}

/** No thread had time for it: answered in a request, and a job has another turn. */
export class NoThread extends Problem {
  constructor() {
    super(503, 'The service is too busy to render this. Please retry', { headers: { 'retry-after': '5' } })
    this.name = 'NoThread'
  }
}

async function outcomeOf(threads: Threads, request: RenderRequest, at: Date): Promise<() => unknown> {
  const message = messageOf(request, at)
  if (message === undefined) return renderedHere(request, at)
  try {
    const reply = (await threads.run(message)) as ThreadReply
    if ('fault' in reply) throw new Error(reply.fault)
    return () => {
      if ('field' in reply) throw new RenderError(reply.field, reply.message)
      return reply.value
    }
  } catch (error) {
    if (!(error instanceof ThreadFailure)) throw error
    if (error.kind === 'busy') throw new NoThread()
    if (error.kind === 'unavailable') return renderedHere(request, at)
    // The budget bounds what a template may do: what still takes longer is the template's fault.
    return () => {
      throw new RenderError('template', 'rendering it takes too long, or too much memory')
    }
  }
}

/** In a turn of its own: it takes as long as a message may. */
async function renderedHere(request: RenderRequest, at: Date): Promise<() => unknown> {
  await setImmediate()
  try {
    const value = rendered(request, at)
    return () => value
  } catch (error) {
    return () => {
      throw error
    }
  }
}

/** Copying a scope takes this thread too: one that is larger than this is rendered here. */
const copiedMax = 1_500_000

/** Undefined where it would take longer to copy than to render. */
function messageOf(request: RenderRequest, at: Date): ThreadRequest | undefined {
  const { unsubscribe, ...rest } = request.scope as TemplateScope & { unsubscribe?: { url: string } }
  // A link is signed when it is first read, by a key that cannot be copied.
  const scope = unsubscribe === undefined ? rest : { ...rest, unsubscribe: { url: unsubscribe.url } }
  const locales = request.scope[translations]?.locales
  if (weightOf([scope, locales], copiedMax) > copiedMax) return undefined
  return { request: { ...request, scope: scope as TemplateScope }, locales, at }
}

/** Roughly the characters of it, with 16 for each member; it stops counting when there are more than `most`. */
function weightOf(value: unknown, most: number): number {
  const seen = new Set<unknown>()
  const open: unknown[] = [value]
  let weight = 0
  while (open.length > 0 && weight <= most) {
    const one = open.pop()
    weight += typeof one === 'string' ? one.length : 16
    if (typeof one !== 'object' || one === null || seen.has(one)) continue
    seen.add(one)
    if (one instanceof Map) for (const [name, text] of one) weight += 16 + String(name).length + String(text).length
    else for (const name in one) open.push((one as Record<string, unknown>)[name])
  }
  return weight
}

/** With a renderer of its own, so that nothing is kept of what is rendered once. */
export function rendered(request: RenderRequest, at: Date): unknown {
  const renderer = createRenderer(() => at)
  switch (request.kind) {
    case 'email':
      return renderer.email('once', request.template, request.scope, request.frame)
    case 'inApp':
      return renderer.inApp('once', request.template, request.scope)
    case 'text':
      return renderer.text('once', request.template, request.scope)
    case 'value':
      return renderer.value(request.text, request.scope)
    case 'fields':
      return renderer.fields('once', request.fields, request.scope)
    case 'conditionValue':
      return renderer.values(request.scope)(request.text)
  }
}

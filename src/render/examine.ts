// What a text is before it is used: what is wrong with it, and which variables it names. Long ones are examined in a thread.
import { createHash } from 'node:crypto'
import type { VariableSegments } from 'liquidjs'
import { analyzeSync } from 'liquidjs'
import { BoundedMap } from '../domain/bounded-map.ts'
import { Problem } from '../domain/problem.ts'
import type { Threads } from '../world/threads.ts'
import { ThreadFailure } from '../world/threads.ts'
import type { Mode } from './engine.ts'
import { workflowCodesMax } from './limits.ts'
import { parse, TemplateMistake } from './parse.ts'

export interface Examined {
  readonly mistake?: string
  /** Names of variables by their parts, up to the first index. */
  readonly paths: readonly (readonly string[])[]
}

/** As a thread is asked. */
export interface ExamineRequest {
  readonly examine: readonly string[]
}

const modes: readonly Mode[] = ['html', 'plain']
/** Code that is seldom run takes some 50 µs for each output or tag: more than these, of all texts together, go to a thread. */
const codesHereMax = 300
/** Those of the largest workflow in both modes: they are asked for twice, soon after they were examined. */
const examinedMax = 2 * workflowCodesMax
const known = new BoundedMap<string, Examined>(examinedMax)

export function examine(text: string, mode: Mode): Examined {
  if (codesIn(text) === 0) return examinedNow(text, mode)
  const key = keyOf(text, mode)
  const found = known.get(key) ?? examinedNow(text, mode)
  known.set(key, found)
  return found
}

export function examinedNow(text: string, mode: Mode): Examined {
  try {
    const templates = parse(text, mode)
    if (!text.includes('{')) return { paths: [] }
    const { globals } = analyzeSync(templates, { partials: false })
    return { paths: Object.values(globals).flatMap((all) => all.map(({ segments }) => namedPart(segments))) }
  } catch (error) {
    if (error instanceof TemplateMistake) return { mistake: error.message, paths: [] }
    throw error
  }
}

/** What the thread replies: one for each text and mode, in their order. */
export const examinedAll = ({ examine: texts }: ExamineRequest): Examined[] =>
  texts.flatMap((text) => modes.map((mode) => examinedNow(text, mode)))

/**
 * Before something is saved that may hold long templates: what `examine` then says of its texts is known. Without threads it is
 * found when it is asked for. Where it takes too long, or threads have no time, the call is refused, and nothing is
 * remembered of its texts: others may use them too.
 */
export async function examineAhead(threads: Threads | undefined, value: unknown): Promise<void> {
  if (threads === undefined) return
  const texts = [...new Set(textsIn(value))]
  const codes = texts.reduce((sum, text) => sum + codesIn(text), 0)
  // Too many are refused without being examined.
  if (codes <= codesHereMax || codes > workflowCodesMax) return
  const found = await examinedBy(threads, texts)
  for (const [index, examined] of found.entries()) {
    const [text, mode] = [texts[Math.floor(index / modes.length)], modes[index % modes.length]]
    if (text !== undefined && mode !== undefined) known.set(keyOf(text, mode), examined)
  }
}

async function examinedBy(threads: Threads, texts: readonly string[]): Promise<readonly Examined[]> {
  const request: ExamineRequest = { examine: texts }
  try {
    const reply = (await threads.run(request)) as { value: readonly Examined[] } | { fault: string }
    if ('fault' in reply) throw new Error(reply.fault)
    return reply.value
  } catch (error) {
    if (!(error instanceof ThreadFailure)) throw error
    if (error.kind === 'unavailable') return []
    if (error.kind === 'busy') {
      const headers = { 'retry-after': '5' }
      throw new Problem(503, 'The service is too busy to check the templates. Please retry', { headers })
    }
    throw new Problem(422, 'The templates could not be checked in time: make them shorter, or try again later')
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return codesIn(value) === 0 ? [] : [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

const codesIn = (text: string): number => (text.includes('{') ? (text.match(/\{[{%]/g)?.length ?? 0) : 0)

const keyOf = (text: string, mode: Mode): string => `${mode} ${createHash('sha256').update(text).digest('base64')}`

/** Up to the first index: `items[0].name` says that there are `items`. */
function namedPart(segments: VariableSegments): string[] {
  const names: string[] = []
  for (const segment of segments) {
    if (typeof segment !== 'string') break
    names.push(segment)
  }
  return names
}

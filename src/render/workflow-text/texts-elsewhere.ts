// The texts of large workflows, and how they differ, in a thread: writing and reading YAML takes microseconds for each value.
import { isLong } from '../../domain/json-pieces.ts'
import { Problem } from '../../domain/problem.ts'
import type { ConfigurationChange } from '../../domain/workflows/configuration.ts'
import type { DiffLine } from '../../domain/workflows/text-diff.ts'
import type { Document } from '../../domain/workflows/workflow-document.ts'
import type { Threads } from '../../world/threads.ts'
import { ThreadFailure } from '../../world/threads.ts'
import { changedLines } from './change-texts.ts'
import { comparable, shownLines } from './hidden-values.ts'
import type { TextFile } from './workflow-texts.ts'
import { filesOf } from './workflow-texts.ts'

/** As a thread is asked: the work, and what it is done with, as JSON. */
export interface TextsRequest {
  readonly workflowText: keyof typeof works
  readonly given: string
}

/** In letters: some milliseconds of YAML. */
const atOnceMax = 16 * 1024

const works = {
  files: (document: Document): TextFile[] => filesOf(document),
  difference: ([before, after]: readonly [Document, Document]): DiffLine[] => {
    const shown = comparable(filesOf(before), filesOf(after))
    return shownLines(shown.before, shown.after)
  },
  change: (change: ConfigurationChange): DiffLine[] => changedLines(change),
} as const

type Work = typeof works
type Given<Name extends keyof Work> = Parameters<Work[Name]>[0]

/** A workflow as files. */
export const filesElsewhere = (threads: Threads | undefined, document: Document): Promise<TextFile[]> =>
  done(threads, 'files', document)

/** The lines in which two workflows differ, as they are shown. */
export const differenceElsewhere = (
  threads: Threads | undefined,
  sides: readonly [Document, Document],
): Promise<DiffLine[]> => done(threads, 'difference', sides)

/** The lines in which the sides of a change differ. */
export const changeElsewhere = (threads: Threads | undefined, change: ConfigurationChange): Promise<DiffLine[]> =>
  done(threads, 'change', change)

async function done<Name extends keyof Work>(
  threads: Threads | undefined,
  workflowText: Name,
  given: Given<Name>,
): Promise<ReturnType<Work[Name]>> {
  if (threads === undefined || !isLong(given, atOnceMax)) return worked(workflowText, given)
  const request: TextsRequest = { workflowText, given: JSON.stringify(given) }
  try {
    const reply = (await threads.run(request)) as TextsReply
    if ('fault' in reply) throw new Error(reply.fault)
    return reply.value as ReturnType<Work[Name]>
  } catch (error) {
    if (!(error instanceof ThreadFailure)) throw error
    if (error.kind === 'late' || error.kind === 'broken')
      throw new Problem(422, 'The workflow is too large to be written as files in time')
    const headers = { 'retry-after': '5' }
    throw new Problem(503, 'The service is too busy to write the workflow as files. Please retry', { headers })
  }
}

const worked = <Name extends keyof Work>(name: Name, given: Given<Name>): ReturnType<Work[Name]> =>
  (works[name] as (given: Given<Name>) => ReturnType<Work[Name]>)(given)

export type TextsReply = { readonly value: unknown } | { readonly fault: string }

/** In the thread. */
export function textsReply({ workflowText, given }: TextsRequest): TextsReply {
  try {
    return { value: worked(workflowText, JSON.parse(given)) }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

// What is wrong with the texts of a template, reported when a workflow is saved: each by field, line and column.
import { RenderError } from '../domain/workflows/rendering.ts'
import type { StepTemplate } from '../domain/workflows/workflow.ts'
import { examine } from './examine.ts'
import { blocksMax, dataDepthMax, dataTextsMax } from './limits.ts'
import { safeAddress } from './plain-text.ts'
import type { TemplateText } from './texts.ts'
import { textsOf } from './texts.ts'

export interface FoundMistake {
  readonly path: string
  readonly message: string
}

/** All of them at once, one per text. */
export function templateMistakes(template: StepTemplate): FoundMistake[] {
  const tooLarge = sizeMistakes(template)
  return tooLarge.length > 0 ? tooLarge : textsOf(template).flatMap(mistakesIn)
}

function sizeMistakes({ content, data }: StepTemplate): FoundMistake[] {
  const mistakes: FoundMistake[] = []
  if (Array.isArray(content) && content.length > blocksMax) {
    mistakes.push({
      path: 'template.content',
      message: `has ${content.length} blocks; at most ${blocksMax} are allowed`,
    })
  }
  if (isDeeper(data, dataDepthMax)) {
    mistakes.push({ path: 'template.data', message: `is nested more than ${dataDepthMax} levels deep` })
  } else if (textCount(data) > dataTextsMax) {
    mistakes.push({ path: 'template.data', message: `contains more than ${dataTextsMax} strings` })
  }
  return mistakes
}

const membersOf = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : []

function isDeeper(value: unknown, depthMax: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depthMax === 0 || membersOf(value).some((member) => isDeeper(member, depthMax - 1))
}

function textCount(value: unknown): number {
  if (typeof value === 'string') return 1
  return membersOf(value).reduce((sum: number, member) => sum + textCount(member), 0)
}

function mistakesIn({ path, text, mode }: TemplateText): FoundMistake[] {
  const { mistake } = examine(text, mode)
  if (mistake !== undefined) return [{ path, message: mistake }]
  try {
    // What precedes the first variable is known now.
    if (path.endsWith('.url')) safeAddress(path, text.split('{', 1)[0] ?? '')
    return []
  } catch (error) {
    if (error instanceof RenderError) return [{ path, message: error.message }]
    throw error
  }
}

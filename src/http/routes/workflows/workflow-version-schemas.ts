// The schemas of versions of workflows and of differences, line by line.
import { Type } from 'typebox'
import type { DiffLine } from '../../../domain/workflows/text-diff.ts'
import { literals, timestamp } from '../../schemas.ts'

/** Numbers start at 1. */
export const versionText = (description: string) =>
  Type.String({ pattern: '^(?:current|[1-9][0-9]{0,8})$', maxLength: 9, description })

export const version = Type.Object(
  {
    number: Type.Integer(),
    name: Type.String(),
    identifier: Type.String({ description: 'The trigger identifier at the time.' }),
    steps: Type.Integer({ description: 'How many steps it has.' }),
    isCurrent: Type.Boolean({ description: 'Whether new events use it.' }),
    createdAt: timestamp({ description: 'When it was saved.' }),
  },
  { title: 'WorkflowVersion' },
)

const line = Type.Object({ kind: literals(['same', 'added', 'removed']), text: Type.String() }, { title: 'DiffLine' })
export const diffLines = Type.Array(line, {
  description: 'Lines that differ, with a few around them; empty if nothing differs.',
})
const words = { ' ': 'same', '-': 'removed', '+': 'added' } as const
export const shownLine = ({ sign, text }: DiffLine) => ({ kind: words[sign], text })

export const versionDiffReply = Type.Object(
  { from: Type.Integer(), to: Type.Integer(), lines: diffLines },
  { title: 'WorkflowVersionDiff' },
)

export const versionFilesReply = Type.Object(
  {
    number: Type.Integer({ description: 'The number of the version.' }),
    files: Type.Array(Type.Object({ path: Type.String(), text: Type.String() })),
  },
  { title: 'WorkflowFiles' },
)

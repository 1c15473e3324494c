// A document as one shell script: its blocks in their order, as printed, each with its output in a file of its own.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Block } from './blocks.ts'

/** A block that is run, and where its output goes. */
export interface Part {
  readonly block: Block
  readonly output: string
}

export interface PageScript {
  readonly text: string
  readonly parts: readonly Part[]
}

/**
 * A call that fails has to fail the page, whatever curl makes of its status; the answer is shown all the same.
 */
export function scriptOf(blocks: readonly Block[], { out, work, port }: Place): PageScript {
  const parts: Part[] = []
  const lines = [
    'set -euo pipefail',
    `cd ${quoted(work)}`,
    'curl() { command curl --silent --show-error --fail-with-body --max-time 100 "$@"; }',
    'background=',
    `trap '[ -z "$background" ] || { kill "$background"; wait "$background" || true; }' EXIT`,
  ]
  for (const [index, block] of blocks.entries()) {
    const command = commandOf(block, work)
    if (command === undefined) continue
    const output = join(out, `${index}`)
    parts.push({ block, output })
    lines.push(`echo ${block.line} > ${quoted(join(out, 'at'))}`)
    // The port of a service that a test starts is not the one that pages name.
    const local = command.replaceAll('localhost:3000', `localhost:${port}`)
    lines.push(`exec > ${quoted(output)} 2> ${quoted(`${output}.err`)}`, local)
  }
  return { text: `${lines.join('\n')}\n`, parts }
}

/** `out` is for files of the test, `work` is where the page is followed. */
export interface Place {
  readonly out: string
  readonly work: string
  readonly port: number
}

/** What goes on in the background is a service: the page goes on when it is ready, and it is stopped at the end. */
const inBackground = (text: string): string =>
  `{ ${text.trim()}; } &
background=$!
until command curl --silent --fail http://localhost:3000/ready; do kill -0 "$background"; sleep 0.1; done`

/** Undefined for what is only shown. */
function commandOf(block: Block, work: string): string | undefined {
  const { language, text, path, notRun } = block
  if (notRun !== undefined) return undefined
  if (language === 'sh') return block.background ? inBackground(text) : text
  if (path !== undefined) return fileCommand(block, path, work)
  return language === 'js' ? heredoc(`block-${block.line}.mjs`, text, `node block-${block.line}.mjs`) : undefined
}

function fileCommand({ page, line, language, text }: Block, path: string, work: string): string {
  if (language === 'diff') return heredoc('edit.diff', text, `node "$EDIT" ${quoted(path)} edit.diff`)
  // A file of the project that a page shows must be what the page shows.
  if (existsSync(join(work, path)) && language !== 'js') {
    const same = readFileSync(join(work, path), 'utf8') === text
    return same ? ':' : `echo ${quoted(`${page}:${line} shows another ${path} than there is`)} >&2; false`
  }
  return path.includes('NNNN')
    ? `${nextNumber}\n${heredoc(path.replace('NNNN', '$NNNN'), text, ':')}`
    : heredoc(path, text, ':')
}

/** Pages say that NNNN is the next free number of a migration. */
const nextNumber = `NNNN=$(ls src/db/migrations | sort | tail -n 1 | cut -c 1-4)
NNNN=$(printf '%04d' $((10#$NNNN + 1)))`

function heredoc(path: string, text: string, then: string): string {
  return `mkdir -p "$(dirname "${path}")"\ncat > "${path}" <<'END_OF_BLOCK'\n${text}END_OF_BLOCK\n${then}`
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

// Writing texts and values of a template, into the HTML and, where there is a plan for it, into the text part.
import type { Template as Parsed } from 'liquidjs'
import type { Mode } from '../engine.ts'
import { countOf } from '../markup.ts'
import { escapeHtml, SafeText } from '../values.ts'
import type { Compiler, Program } from './compiler.ts'
import type { Run } from './run.ts'

type Show = (run: Run, value: unknown) => void

/** Fixed text. */
export function writing(template: Parsed, text: string, { plan }: Compiler): Program {
  const ops = plan?.ops.get(template)
  if (ops === undefined) return (run) => run.write(text)
  const tags = countOf(text, '<', text.length)
  return (run) => {
    run.write(text)
    run.text?.play(ops, tags)
  }
}

/** A value: escaped in HTML unless it is safe already, as it is in plain text. */
export function showing(template: Parsed, mode: Mode, { plan }: Compiler): Show {
  const place = plan?.places.get(template)
  if (place === undefined) return mode === 'html' ? showHtml : showPlain
  if (mode === 'plain') {
    return (run, value) => {
      const text = run.print(value)
      run.write(text)
      run.text?.markup(place, text)
    }
  }
  return (run, value) => {
    if (value instanceof SafeText) {
      run.write(value.text)
      run.text?.markup(place, value.text)
      return
    }
    const text = run.print(value)
    run.write(escapeHtml(text))
    run.text?.value(place, text)
  }
}

function showHtml(run: Run, value: unknown): void {
  run.write(value instanceof SafeText ? value.text : escapeHtml(run.print(value)))
}

function showPlain(run: Run, value: unknown): void {
  run.write(run.print(value))
}

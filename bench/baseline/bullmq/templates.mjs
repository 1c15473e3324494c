// Templates of the hand-made service: LiquidJS, parsed once at the start.
import { Liquid } from 'liquidjs'

const markup = new Liquid({ outputEscape: 'escape' })
const words = new Liquid()

/** By workflow: a function per part. */
export function compileTemplates(templates) {
  return Object.fromEntries(
    Object.entries(templates).map(([name, { subject, html, text, inApp }]) => [
      name,
      {
        subject: compiled(words, subject),
        html: compiled(markup, html),
        text: compiled(words, text),
        inApp: compiled(markup, inApp),
      },
    ]),
  )
}

function compiled(engine, source) {
  const template = engine.parse(source)
  return (scope) => engine.renderSync(template, scope)
}

// Templates rendered by LiquidJS itself, without our compiler: what compiled ones are compared with.
import type { Template as Parsed } from 'liquidjs'
import { CaptureTag, Context, toValueSync } from 'liquidjs'
import type { TemplateScope } from '../../src/domain/workflows/rendering.ts'
import type { Mode } from '../../src/render/engine.ts'
import { engines } from '../../src/render/engine.ts'
import type { Budget } from '../../src/render/limits.ts'
import { parse } from '../../src/render/parse.ts'
import { inField } from '../../src/render/template.ts'
import { print, SafeText } from '../../src/render/values.ts'

/** Throws a RenderError as the compiled one does. */
export function renderPlainly(text: string, mode: Mode, scope: TemplateScope, budget: Budget): string {
  return inField('value', () => {
    const engine = engines[mode]
    const templates = parse(text, mode)
    for (const template of templates) captureSafely(template, budget)
    const limits = { memoryLimit: budget, renderLimit: budget, liquid: engine } as unknown as ContextLimits
    // `increment` writes into what it is given.
    const environment = Object.assign(Object.create(null), scope)
    const context = new Context(environment, engine.options, { sync: true }, limits)
    const emitter = emitterWith(budget)
    toValueSync(engine.renderer.renderTemplates(templates, context, emitter))
    return emitter.buffer
  })
}

type ContextLimits = NonNullable<ConstructorParameters<typeof Context>[3]>

function emitterWith(budget: Budget) {
  return {
    buffer: '',
    write(value: unknown): void {
      this.buffer += typeof value === 'string' ? value : print(value, budget)
    },
  }
}

/** The one tag that is ours: what it captured is not escaped again when it is printed. */
function captureSafely(template: Parsed, budget: Budget): void {
  const inner = template.children === undefined ? [] : (toValueSync(template.children(false, true)) as Parsed[])
  for (const child of inner) captureSafely(child, budget)
  if (!(template instanceof CaptureTag)) return
  template.render = function* (context: Context): Generator<unknown, void, string> {
    const emitter = emitterWith(budget)
    yield this.liquid.renderer.renderTemplates(this.templates, context, emitter)
    const bottom = context.bottom() as Record<string, unknown>
    bottom[this.variable] = new SafeText(emitter.buffer)
  }
}

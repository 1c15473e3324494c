// The steps of a workflow as cards joined by a line: choose, add between, move, duplicate, remove.
import { useEffect, useRef } from 'react'
import { Button, IconButton } from '../../ui/controls.tsx'
import { Icon, iconOfStep, nameOfStep } from '../../ui/icons.tsx'
import { Menu } from '../../ui/menu.tsx'
import { say } from '../../ui/toast.tsx'
import type { Draft, DraftStep } from './draft.ts'
import { addableTypes, copyOfStep, newStep } from './draft.ts'
import { withStepBack } from './step-keys.ts'

interface FlowProps {
  readonly draft: Draft
  readonly chosen: string
  readonly errors: Readonly<Record<string, string>>
  readonly mayChange: boolean
  onChoose: (key: string) => void
  onChange: (draft: Draft | ((now: Draft) => Draft)) => void
}

export function Flow({ draft, chosen, errors, mayChange, onChoose, onChange }: FlowProps) {
  const { steps } = draft
  // Away from the editor there is no draft that a step could come back to.
  const offers = useRef(new Set<() => void>())
  useEffect(() => {
    const open = offers.current
    return () => {
      for (const drop of open) drop()
    }
  }, [])
  const put = (next: readonly DraftStep[]) => onChange({ ...draft, steps: next })
  const add = (place: number, type: string) => {
    const step = newStep(type, nameOfStep(type))
    put(steps.toSpliced(place, 0, step))
    onChoose(step.key)
  }
  const move = (from: number, to: number) => {
    const step = steps[from]
    if (step !== undefined && to >= 0 && to < steps.length) put(steps.toSpliced(from, 1).toSpliced(to, 0, step))
  }
  return (
    // Of many steps those that are chosen from stay beside the form of the one that is.
    <nav
      aria-label="Steps"
      className="flex flex-col lg:sticky lg:top-0 lg:-mx-1 lg:max-h-dvh lg:overflow-y-auto lg:px-1 lg:pb-4"
    >
      <button
        type="button"
        aria-current={chosen === 'general' ? 'step' : undefined}
        onClick={() => onChoose('general')}
        className={`card flex items-center gap-3 px-3 py-2.5 text-left hover:border-line-2 ${chosen === 'general' ? 'border-accent! bg-accent-bg' : ''}`}
      >
        <Icon name="send" className="text-ink-2" />
        <span className="min-w-0 flex-1">
          <span className="block font-medium">Trigger</span>
          <span className="block truncate text-xs text-ink-3">Name and rules of the workflow</span>
        </span>
      </button>
      {mayChange && <Insert onAdd={(type) => add(0, type)} />}
      {steps.map((step, index) => {
        const isWrong = Object.keys(errors).some(
          (path) => path.startsWith(`steps.${index}.`) || path.startsWith(`steps[${index}]`),
        )
        return (
          <div key={step.key} className="flex flex-col">
            {!mayChange && <span className="mx-auto h-4 w-px bg-line-2" />}
            <div
              className={`card flex items-center gap-1 pr-1 hover:border-line-2 ${chosen === step.key ? 'border-accent! bg-accent-bg' : ''} ${step.active ? '' : 'opacity-60'}`}
            >
              <button
                type="button"
                aria-current={chosen === step.key ? 'step' : undefined}
                onClick={() => onChoose(step.key)}
                className="flex min-w-0 flex-1 items-center gap-3 py-2.5 pl-3 text-left"
              >
                <Icon name={iconOfStep(step.template.type)} className="text-ink-2" />
                <span className="min-w-0 flex-1">
                  <span className="block truncate font-medium">{step.name || nameOfStep(step.template.type)}</span>
                  <span className="block truncate text-xs text-ink-3">
                    {nameOfStep(step.template.type)}
                    {step.filters.length > 0 && ', with conditions'}
                    {!step.active && ', off'}
                  </span>
                </span>
                {isWrong && <Icon name="warning" className="text-red" />}
              </button>
              {mayChange && (
                <Menu
                  label={`Step ${step.name}`}
                  button={<IconButton name="more" label={`What to do with ${step.name || 'the step'}`} />}
                  items={[
                    { text: 'Move up', icon: 'up', disabled: index === 0, onSelect: () => move(index, index - 1) },
                    {
                      text: 'Move down',
                      icon: 'down',
                      disabled: index === steps.length - 1,
                      onSelect: () => move(index, index + 1),
                    },
                    {
                      text: 'Duplicate',
                      icon: 'duplicate',
                      onSelect: () => put(steps.toSpliced(index + 1, 0, copyOfStep(step))),
                    },
                    'line',
                    {
                      text: 'Remove',
                      icon: 'trash',
                      danger: true,
                      onSelect: () => {
                        put(steps.toSpliced(index, 1))
                        if (chosen === step.key) onChoose('general')
                        const drop = say(`${step.name || 'The step'} is removed`, 'good', () => {
                          onChange((now) => ({ ...now, steps: withStepBack(now.steps, step, index) }))
                          onChoose(step.key)
                        })
                        offers.current.add(drop)
                      },
                    },
                  ]}
                />
              )}
            </div>
            {mayChange && <Insert onAdd={(type) => add(index + 1, type)} isLast={index === steps.length - 1} />}
          </div>
        )
      })}
    </nav>
  )
}

function Insert({ onAdd, isLast = false }: { onAdd: (type: string) => void; isLast?: boolean }) {
  return (
    <div className="group relative flex h-8 items-center justify-center">
      <span className={`absolute inset-x-1/2 top-0 w-px bg-line-2 ${isLast ? 'h-4' : 'h-full'}`} />
      <Menu
        label="Add a step"
        button={
          isLast ? (
            <Button look="plain" icon="plus" className="relative h-7! text-xs!">
              Add a step
            </Button>
          ) : (
            <button
              type="button"
              aria-label="Add a step here"
              title="Add a step here"
              className="relative flex size-5 items-center justify-center rounded-full border border-line-2 bg-bg text-ink-2 hover:border-accent hover:text-accent"
            >
              <Icon name="plus" size={10} />
            </button>
          )
        }
        items={addableTypes.map((type) => ({
          text: nameOfStep(type),
          icon: iconOfStep(type),
          onSelect: () => onAdd(type),
        }))}
      />
    </div>
  )
}

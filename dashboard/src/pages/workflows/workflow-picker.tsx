// Chooses one of any number of workflows: the service is asked for those that fit what is typed.
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk } from '../../ask.ts'
import { Picker } from '../../ui/picker.tsx'

type Workflow = Schemas['Workflow']
/** As many as are read at a glance; typing narrows them down. */
const shownMax = 20

export const identifierOf = (workflow: Workflow): string => workflow.triggers[0]?.identifier ?? workflow._id

/** The newest, or those with a name or an identifier like what was typed. */
export const useWorkflows = (text: string, { enabled = true }: { enabled?: boolean } = {}) => {
  const query = text.trim()
  return useAsk(
    ['workflows', 'found', query],
    () =>
      answerOf(
        client.GET('/v1/workflows', {
          params: { query: { limit: shownMax, ...(query === '' ? {} : { query }) } },
        }),
      ),
    { keeps: true, enabled },
  )
}

/** Of one workflow, by its id or its identifier; what was deleted has none. */
export function useWorkflowName(id: string | undefined): string | undefined {
  const found = useAsk(
    ['workflows', 'name', id],
    () =>
      answerOf(client.GET('/v1/workflows/{workflowId}', { params: { path: { workflowId: id ?? '' } } })).then(
        ({ name }) => name,
        () => id ?? '',
      ),
    { enabled: id !== undefined },
  )
  return found.data ?? id
}

/** As a picker takes them. */
function useFound(text: string) {
  const { data } = useWorkflows(text)
  return (
    data && { items: data.data.map((one) => ({ id: one._id, name: one.name, workflow: one })), hasMore: data.hasMore }
  )
}

export function WorkflowPicker({
  label,
  value,
  all,
  className = '',
  onPick,
}: {
  label: string
  /** The id or the identifier of the chosen one. */
  value: string | undefined
  /** What it is called to choose none; without it one must be chosen. */
  all?: string
  className?: string
  onPick: (workflow: Workflow | undefined) => void
}) {
  const name = useWorkflowName(value)
  return (
    <Picker
      label={label}
      shown={name ?? all ?? 'Choose a workflow'}
      isChosen={value !== undefined}
      all={all}
      placeholder="Search by name"
      none="No workflow has this name."
      className={className}
      useFound={useFound}
      onPick={(one) => onPick(one?.workflow)}
    />
  )
}

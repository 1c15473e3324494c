// The demo inbox of Development: a workflow that says whatever the page sends, to its own subscriber.
import type { Db } from '../../db/sql.ts'
import type { Principal } from '../../domain/environment.ts'
import type { Reader } from '../../domain/messages/inbox.ts'
import { findWorkflowsByIdentifier } from '../../store/workflows/workflows.ts'
import type { World } from '../../world/world.ts'
import { createWorkflow } from '../workflows/workflows.ts'

export const demoWorkflow = 'posthorn-inbox-demo'

const steps = [
  {
    template: {
      type: 'in_app' as const,
      subject: '{{ payload.subject }}',
      content: '{{ payload.body }}',
    },
  },
]

/** Created with the first notification; an edited one is left as it is. */
export async function ensureDemoWorkflow(
  db: Db,
  world: World,
  { environment }: Reader,
  address: string,
): Promise<void> {
  const [known] = await findWorkflowsByIdentifier(db, environment, [demoWorkflow])
  if (known !== undefined) return
  const principal: Principal = { environment, keyId: 'inbox-demo', keyName: 'Inbox demo', scopes: [] }
  const author = { keyId: principal.keyId, keyName: principal.keyName, address, requestId: null }
  const workflow = { name: 'Inbox demo', workflowId: demoWorkflow, active: true, steps }
  await createWorkflow(db, world, principal, { workflow, author, idempotency: undefined })
}
